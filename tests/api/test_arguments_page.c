/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to a model's page; see test_arguments.c. */
#include "api/refused.h"

#include <holdfast/page.h>
#include <unistd.h>

static const char path[] = "api-no-page.html";

static void pages(workshop *w)
{
    hf_table *strange = NULL, *foreign = table_of(w->ctx, "model_sha256,what\nabc,mean\n");
    assert_int_equal(hf_table_create(w->ctx, 3, &strange), HF_OK);
    ARGUMENT(hf_model_report_html(w->ctx, NULL, NULL, path));
    ARGUMENT(hf_model_report_html(w->ctx, w->model, NULL, NULL));
    assert_int_equal(hf_model_report_html(NULL, w->model, NULL, path), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_model_report_html(w->ctx, w->model, NULL, "no/such/page.html"));
    REFUSED(HF_ERR_NO_COLUMN,
            hf_model_report_html(w->ctx, w->model, &(hf_page_parts){.test = strange}, path));
    REFUSED(HF_ERR_NO_COLUMN,
            hf_model_report_html(w->ctx, w->model, &(hf_page_parts){.certificates = strange}, path));
    ARGUMENT(hf_model_report_html(w->ctx, w->model, &(hf_page_parts){.certificates = foreign}, path));
    assert_non_null(strstr(hf_context_message(w->ctx), "certificate 1 is about the model"));
    assert_int_not_equal(access(path, F_OK), 0);
    hf_table_free(foreign);
    hf_table_free(strange);
}
REFUSED_TEST(pages)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
