/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a model's page fails once, and leaves no file; see test_allocation.c. */
#include "api/sweep.h"

#include <holdfast/page.h>
#include <unistd.h>

static const char path[] = "api-page.html";

static hf_status report(workshop *w)
{
    const hf_page_parts parts = {.test = w->table, .command = "holdfast report m.hf"};
    const hf_status s = hf_model_report_html(w->ctx, w->model, &parts, path);
    assert_int_equal(access(path, F_OK) == 0, s >= 0);
    unlink(path);
    return s;
}

/* A page with certificates: two questions, the first with an input that moves. Model and table have a context
 * of their own. */
static hf_status certified(workshop *w)
{
    char text[512];
    hf_context *own = hf_context_create();
    hf_model *model = NULL;
    assert_int_equal(hf_model_load(own, w->file, &model), HF_OK);
    const char *sha = hf_model_content_checksum(model);
    (void)snprintf(text, sizeof text,
                   "command,what,from.a,to.a,from.b,to.b,answer.lower,answer.upper,model_sha256\n"
                   "one,mean,0,1,2,2,0.5,0.75,%s\ntwo,sd,3,3,2,2,0.25,0.5,%s\n",
                   sha, sha);
    hf_table *certificates = table_of(own, text);
    const hf_status s =
        hf_model_report_html(w->ctx, model, &(hf_page_parts){.certificates = certificates}, path);
    assert_int_equal(access(path, F_OK) == 0, s >= 0);
    unlink(path);
    hf_table_free(certificates);
    hf_model_free(model);
    hf_context_free(own);
    return s;
}

static void pages_survive(void **state)
{
    (void)state;
    RUN(CASE(report, 20), CASE(certified, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
