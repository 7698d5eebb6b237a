/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over categories: their formula, who sees which column, what does not parse, positive definiteness, boxes. */
#include "kernel_testing.h"

#include "kernel/enclosure.h"
#include "linalg/linalg.h"

static void assert_set(hf_context *ctx, hf_kernel *kernel, const char *name, double value)
{
    if (hf_kernel_set(ctx, kernel, name, value) != HF_OK) fail_msg("%s", hf_context_message(ctx));
}

static void values_follow_the_formula(void **state)
{
    hf_kernel *one = parse(*state, "3*category(x1, x3)", INPUTS);
    hf_kernel *each = parse(*state, "category(x3, x1, ard)", INPUTS);
    const double x[INPUTS] = {2.0, 0.5, 7.0}, other[INPUTS] = {2.0, 9.5, 4.0}, far[INPUTS] = {0.0, 0.5, 1e9};
    assert_set(*state, one, "lengthscale", 0.8);
    assert_set(*state, each, "lengthscale[0]", 0.5);
    assert_set(*state, each, "lengthscale[1]", 2.0);
    assert_close("same", 0, hfi_kernel_value(one, x, x, true), 3.0, 0.0);
    assert_close("one", 0, hfi_kernel_value(one, x, other, false), 3.0 * exp(-1.25), 1e-15);
    assert_close("two", 0, hfi_kernel_value(one, x, far, false), 3.0 * exp(-2.5), 1e-15);
    assert_close("each", 0, hfi_kernel_value(each, x, other, false), exp(-2.0), 1e-15);
    assert_close("each", 1, hfi_kernel_value(each, x, far, false), exp(-2.5), 1e-15);
    hf_parameter p;
    assert_int_equal(hf_kernel_parameter(each, 1, &p), HF_OK);
    assert_string_equal(p.name, "lengthscale[0]");
    assert_true(p.unit == HF_UNIT_NONE && p.column == 2 && hfi_kernel_is_of_codes(each, 1));
    assert_false(hfi_kernel_is_of_codes(each, 0));
    hf_kernel_free(one);
    hf_kernel_free(each);
}

/* A number stands for the nearest whole one, in scalar code and on tiles. */
static void numbers_stand_for_the_nearest_code(void **state)
{
    enum {
        M = 9
    };
    const double numbers[M] = {-1.2, -0.6, -0.5, -0.2, 0.4999, 0.5, 1.2, 1.4999, 1.5},
                 codes[M] = {-1, -1, 0, 0, 0, 1, 1, 1, 2};
    hf_kernel *kernel = parse(*state, "category(x1)", 1);
    double k[M * M], *scratch = make_zeros(hfi_kernel_scratch(kernel));
    hfi_kernel_cross_block(kernel, M, numbers, 1, M, numbers, 1, k, M, scratch);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            const double wanted = codes[i] == codes[j] ? 1.0 : exp(-1.0);
            assert_true(hfi_code_of(numbers[i]) == codes[i]);
            assert_close("scalar", i, hfi_kernel_value(kernel, &numbers[i], &numbers[j], false), wanted,
                         1e-15);
            assert_close("tile", i, k[j + i * M], wanted, 1e-15);
        }
    free(scratch);
    hf_kernel_free(kernel);
}

/* The others see neither codes nor numbers of outputs unless they are told to. */
static void codes_are_hidden_from_other_kernels(void **state)
{
    static const struct {
        const char *expression;
        size_t parameters;
    } cases[] = {{"matern52(ard)*category(x2)", 1 + 2 + 1},
                 {"category(x2)*matern52(ard)", 1 + 1 + 2},
                 {"matern52(ard)*category(x2) + se(ard)", 1 + 2 + 1 + 1 + 2},
                 {"matern52(x1, x2, ard)*category(x2)", 1 + 2 + 1},
                 {"matern52(ard)*category(x2)*coregion(x3, outputs=2)", 1 + 1 + 3},
                 {"matern52(x3)*category(x1, x2, ard)", 1 + 1 + 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hf_kernel *kernel = parse(*state, cases[i].expression, INPUTS);
        bool code[INPUTS];
        assert_int_equal(hf_kernel_parameters(kernel), cases[i].parameters);
        assert_int_equal(hfi_kernel_codes(kernel, code), i == 5 ? 2 : 1);
        assert_true(code[1] && code[0] == (i == 5) && !code[2]);
        assert_true(hfi_kernel_has_codes(kernel));
        hf_kernel_free(kernel);
    }
    hf_kernel *plain = parse(*state, "matern52(ard)*coregion(x3, outputs=2)", INPUTS);
    assert_false(hfi_kernel_has_codes(plain));
    hf_kernel_free(plain);
}

/* A column of text is one input for each text; its name stands for all of them, quoted or not. */
static void a_column_of_text_has_one_name(void **state)
{
    static const char *const names[] = {"town=Bonn", "a", "town=", "town hall=x", "town=Ulm"};
    static const char *const same[][2] = {
        {"matern52(a)*category(town)", "matern52(a)*category('town=Bonn', 'town=', 'town=Ulm')"},
        {"se('town hall', a, ard)", "se('town hall=x', a, ard)"},
        {"se(a)*category(town, ard)", "se(a)*category('town=Bonn', 'town=', 'town=Ulm', ard)"}};
    const double x[5] = {1, 0.3, 0, 1, 0}, z[5] = {0, 0.7, 0, 2, 1};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        double value[2];
        size_t parameters[2];
        for (size_t k = 0; k < 2; k++) {
            hf_kernel *kernel = NULL;
            if (hf_kernel_parse(*state, same[i][k], names, 5, &kernel) != HF_OK)
                fail_msg("%s", hf_context_message(*state));
            parameters[k] = hf_kernel_parameters(kernel);
            value[k] = hfi_kernel_value(kernel, x, z, false);
            hf_kernel_free(kernel);
        }
        assert_true(value[0] == value[1] && value[0] > 0.0 && value[0] < 0.9);
        assert_int_equal(parameters[0], parameters[1]);
    }
    static const struct {
        const char *expression, *words;
    } wrong[] = {{"category(town, 'town=Ulm')", "listed twice"},
                 {"category(tow)", "there is no input 'tow'"},
                 {"coregion(town, outputs=2)", "looks at one column alone"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hf_kernel *kernel = NULL;
        assert_int_equal(hf_kernel_parse(*state, wrong[i].expression, names, 5, &kernel), HF_ERR_PARSE);
        if (!strstr(hf_context_message(*state), wrong[i].words))
            fail_msg("%s: %s", wrong[i].expression, hf_context_message(*state));
    }
}

static void what_cannot_be_is_told(void **state)
{
    static const struct {
        const char *expression, *words;
    } wrong[] = {{"category", "needs the columns with the codes"},
                 {"category()", "needs the columns with the codes"},
                 {"category(ard)", "needs the columns with the codes"},
                 {"category(x2, x2)", "listed twice"},
                 {"category(x9)", "x9"},
                 {"category(x2, period=2)", "period"},
                 {"category(x2, lengthscale=0)", "positive"},
                 {"categroy(x2)", "did you mean 'category'?"},
                 {"se*category(x1, x2, x3)", "codes of categories"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hf_kernel *kernel = NULL;
        assert_int_equal(hf_kernel_parse(*state, wrong[i].expression, NULL, INPUTS, &kernel), HF_ERR_PARSE);
        if (!strstr(hf_context_message(*state), wrong[i].words))
            fail_msg("%s: %s", wrong[i].expression, hf_context_message(*state));
        assert_null(kernel);
    }
}

/* All combinations of codes have a factor without jitter, for lengthscales from the shortest to the longest. */
static void it_is_positive_definite(void **state)
{
    enum {
        KINDS = 4,
        ALL = KINDS * KINDS * KINDS
    };
    double x[ALL * INPUTS], k[ALL * ALL];
    for (size_t i = 0; i < ALL; i++) {
        x[i * INPUTS] = (double)(i % KINDS);
        x[i * INPUTS + 1] = (double)(i / KINDS % KINDS);
        x[i * INPUTS + 2] = (double)(i / KINDS / KINDS);
    }
    hf_kernel *kernel = parse(*state, "category(x1, x2, x3, ard)", INPUTS);
    for (int step = -4; step <= 7; step++) {
        for (size_t a = 0; a < INPUTS; a++) {
            char name[32];
            snprintf(name, sizeof name, "lengthscale[%zu]", a);
            assert_set(*state, kernel, name, exp(fmin(fmax((double)step + 2.0 * (double)a, -4.0), 7.0)));
        }
        assert_int_equal(hfi_kernel_gram_lower(*state, kernel, ALL, x, INPUTS, k, ALL), HF_OK);
        assert_int_equal(hfi_chol(*state, ALL, k, ALL), HF_OK);
    }
    hf_kernel_free(kernel);
}

/* A box of one code is a point; of several it holds 1, if z's is among them, and what others make. */
static void boxes_are_as_narrow_as_can_be(void **state)
{
    hf_kernel *kernel = parse(*state, "category(x1, x2, ard)", 2);
    assert_set(*state, kernel, "lengthscale[0]", 0.5);
    assert_set(*state, kernel, "lengthscale[1]", 2.0);
    const double z[2] = {1.0, 3.0};
    static const struct {
        hfi_interval box[2];
        double lower, upper; /* minus the exponent */
    } cases[] = {{{{1.0L, 1.0L}, {3.0L, 3.0L}}, 0.0, 0.0},  {{{0.6L, 1.4L}, {2.0L, 2.0L}}, 0.5, 0.5},
                 {{{0.0L, 2.0L}, {3.0L, 3.0L}}, 2.0, 0.0},  {{{0.0L, 0.4L}, {2.6L, 5.0L}}, 2.5, 2.0},
                 {{{2.0L, 9.0L}, {-1.0L, 2.0L}}, 2.5, 2.5}, {{{0.0L, 1.0L}, {3.0L, 3.0L}}, 2.0, 0.0},
                 {{{1.0L, 1.0L}, {0.0L, 2.4L}}, 0.5, 0.5}};
    hfi_interval jet[6], *scratch = malloc(hfi_kernel_jet_scratch(kernel, 2) * sizeof *scratch);
    assert_non_null(scratch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(hfi_kernel_enclose_box(kernel, cases[i].box, z, false, 2, jet, scratch));
        assert_close("lower", i, (double)jet[0].lower, exp(-cases[i].lower), 1e-15);
        assert_close("upper", i, (double)jet[0].upper, exp(-cases[i].upper), 1e-15);
        for (size_t k = 1; k < 6; k++) assert_true(jet[k].lower == 0.0L && jet[k].upper == 0.0L);
        long double norm[4];
        const long double half[2] = {1.0L, 1.0L};
        const bool one =
            hfi_code_of((double)cases[i].box[0].lower) == hfi_code_of((double)cases[i].box[0].upper) &&
            hfi_code_of((double)cases[i].box[1].lower) == hfi_code_of((double)cases[i].box[1].upper);
        assert_int_equal(hfi_kernel_feature_norms(kernel, cases[i].box, half, norm), one);
    }
    assert_true(hfi_kernel_enclose_box(kernel, cases[2].box, NULL, true, 0, jet, scratch));
    assert_true(jet[0].lower == 1.0L && jet[0].upper == 1.0L);
    free(scratch);
    hf_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_the_formula),
        cmocka_unit_test(numbers_stand_for_the_nearest_code),
        cmocka_unit_test(codes_are_hidden_from_other_kernels),
        cmocka_unit_test(a_column_of_text_has_one_name),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(it_is_positive_definite),
        cmocka_unit_test(boxes_are_as_narrow_as_can_be),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
