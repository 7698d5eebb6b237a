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

static void pages_survive(void **state)
{
    (void)state;
    RUN(CASE(report, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
