/* SPDX-License-Identifier: Apache-2.0 */
/* The expression language: what it means, what it refuses, and where its messages point. */
#include "kernel/gram_reference.h"
#include "kernel_testing.h"

#include <float.h>

static const char *const NAMES[] = {"temp", "wind speed", "x2", "don't"};

/* ---- errors --------------------------------------------------------------------------------------------- */

typedef struct wrong {
    const char *expression;
    size_t character; /* from 1 */
    const char *said; /* part of the message */
} wrong;

static const wrong WRONG[] = {
    {"", 1, "the expression ends"},
    {"   ", 4, "the expression ends"},
    {"se +", 5, "expected a kernel, a number or '('"},
    {"se ++ se", 5, "expected a kernel, a number or '('"},
    {"matern25", 1, "did you mean 'matern52'?"},
    {"se + Matern52", 6, "did you mean 'matern52'?"},
    {"se + perodic(x1)", 6, "did you mean 'periodic'?"},
    {"guassian", 1, "did you mean 'gaussian'?"},
    {"frobnicate", 1, "expected se, matern12"},
    {"se - se", 4, "cannot be subtracted"},
    {"se) + se", 3, "closes nothing"},
    {"(se + se", 9, "expected '+', '*' or ')'"},
    {"se se", 4, "expected '+', '*' or the end"},
    {"2se", 2, "expected '+', '*' or the end"},
    {"se(", 4, "expected a column, ard, iso, a parameter or ')'"},
    {"se(x1", 6, "expected ',' or ')'"},
    {"se(x1,)", 7, "expected a column"},
    {"se(x5)", 4, "there is no input 'x5': there are 4"},
    {"se(tmep)", 4, "did you mean 'temp'?"},
    {"se('wind sped')", 5, "did you mean 'wind speed'?"},
    {"se(adr)", 4, "did you mean 'ard'?"},
    {"se(temp, temp)", 10, "listed twice"},
    {"se(temp, x1)", 10, "listed twice"},
    {"se(ard, iso)", 9, "given already"},
    {"se('temp)", 4, "never closed"},
    {"se(lengthscale=)", 16, "expected a number"},
    {"se(lengthscale=-1)", 16, "positive"},
    {"se(lengthscale=0)", 16, "positive"},
    {"se(lengthscale=1e999)", 16, "positive finite"},
    {"se(lenghtscale=1)", 4, "expected 'lengthscale'"},
    {"se(alpha=1)", 4, "se has no parameter 'alpha'"},
    {"se(lengthscale)", 4, "needs a value"},
    {"se(lengthscale[1]=1)", 4, "index from 0 to 0"},
    {"se(ard, lengthscale[4]=1)", 9, "index from 0 to 3"},
    {"se(ard, lengthscale[0,1]=1)", 9, "takes 1 index"},
    {"se(ard, lengthscale[x]=1)", 21, "expected an index"},
    {"se(ard, lengthscale[0=1)", 22, "expected ']'"},
    {"se(lengthscale=1, lengthscale=2)", 19, "given twice"},
    {"se(components=2)", 4, "se has no components"},
    {"sm(components~2)", 14, "expected '='"},
    {"sm(components=0)", 15, "whole number from 1 to 1000"},
    {"sm(components=1.5)", 15, "whole number"},
    {"sm(ard)", 4, "sm always has"},
    {"wave(iso)", 6, "wave always has"},
    {"tilt(frequency=1)", 6, "tilt has no parameter 'frequency'"},
    {"se(lengthscale=-1)", 16, "every parameter is one but factor, frequency and rate"},
    {"sm(mean[2,0]=1)", 4, "index from 0 to 1"},
    {"constant(x1)", 10, "does not look at the inputs"},
    {"white(ard)", 7, "does not look at the inputs"},
    {"linear(outputscale=2)", 8, "no outputscale"},
    {"0*se", 1, "positive finite number"},
    {"1e300*1e300*se", 7, "positive finite number"},
    {"1e300*constant(variance=1e300)", 1, "overflows"},
    {"se & se", 4, "no meaning here"},
    {"se(x1)(x2)", 7, "expected '+', '*' or the end"},
    {"\xc3\xa4\xc3\xb6 + se", 1, "there is no kernel"},
    {"se('\xc3\xa4') + 5", 5, "there is no input"},
    {"coregoin(temp, outputs=2)", 1, "did you mean 'coregion'?"},
    {"coregion", 9, "needs the column"},
    {"coregion()", 9, "needs the column"},
    {"coregion(outputs=2)", 9, "needs the column"},
    {"coregion(temp)", 9, "needs the number of outputs"},
    {"coregion(temp, rank=1)", 9, "needs the number of outputs"},
    {"coregion(temp, x2, outputs=2)", 16, "one column alone"},
    {"coregion(temp, outputs=0)", 24, "whole number from 1 to 1000"},
    {"coregion(temp, outputs=1001)", 24, "whole number from 1 to 1000"},
    {"coregion(temp, outputs=-1)", 24, "whole number from 1 to 1000"},
    {"coregion(temp, outputs~2)", 23, "expected '=' (the number of outputs is not trained)"},
    {"coregion(temp, outputs=2, outputs=2)", 27, "outputs is given twice"},
    {"coregion(temp, outputs=2, rank=0)", 32, "whole number from 1 to 1000"},
    {"coregion(temp, outputs=2, rank=3)", 9, "rank=3 is more than outputs=2"},
    {"coregion(temp, outputs=2, ard)", 27, "expected no ard or iso here"},
    {"coregion(temp, outputs=2, components=2)", 27, "coregion has no components; sm has"},
    {"se(outputs=2)", 4, "se has no outputs; coregion has"},
    {"sm(rank=2)", 4, "sm has no rank; coregion has"},
    {"coregion(temp, outptus=2)", 16, "expected 'outputs'"},
    {"coregion(temp, outputs=2, outputscale=2)", 27, "no outputscale"},
    {"coregion(temp, outputs=2)*se(outputscale=2)", 30, "no outputscale"},
    {"coregion(temp, outputs=2, own=1)", 27, "there is no own where rank = outputs"},
    {"coregion(temp, outputs=2, rank=1, own=0)", 39, "positive"},
    {"coregion(temp, outputs=2, rank=1, own=-1)", 39, "positive"},
    {"coregion(temp, outputs=2, factor[0,1]=1)", 27, "above the diagonal"},
    {"coregion(temp, outputs=2, factor[2,0]=1)", 27, "index from 0 to 1"},
    {"coregion(temp, outputs=3, rank=1, factor[2,1]=1)", 35, "second index from 0 to 0"},
    {"coregion(temp, outputs=2, factor[1]=1)", 27, "takes 2 indices"},
    {"coregion(temp, outputs=2, factor=1e101)", 34, "size 1e+100 at most"},
    {"coregion(temp, outputs=2, factor=--1)", 35, "expected a number"},
    {"coregion(temp, outputs=2, factor=x)", 34, "expected a number"},
    {"se(ard, lengthscale[3]=1) * coregion(temp, outputs=2)", 9, "index from 0 to 2"},
    {"coregion(temp, outputs=1000)*se + coregion(x2, outputs=1000)", 43, "more than 1000000 parameters"},
};

/* Byte offset of the caret's column in the line above it. */
static size_t caret_column(const char *message)
{
    const char *last = strrchr(message, '\n');
    assert_non_null(last);
    const char *caret = strchr(last, '^');
    assert_non_null(caret);
    return (size_t)(caret - last - 1) - 2 + 1;
}

static void errors_point_at_the_character(void **state)
{
    hf_context *ctx = *state;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        hf_kernel *kernel = NULL;
        const hf_status s = hf_kernel_parse(ctx, WRONG[i].expression, NAMES, 4, &kernel);
        const char *message = hf_context_message(ctx);
        char numbered[32];
        (void)snprintf(numbered, sizeof numbered, "character %zu:", WRONG[i].character);
        if (s != HF_ERR_PARSE || kernel) fail_msg("'%s' gave %s", WRONG[i].expression, hf_status_name(s));
        if (!strstr(message, WRONG[i].said))
            fail_msg("'%s': no '%s' in: %s", WRONG[i].expression, WRONG[i].said, message);
        if (!strstr(message, numbered) || caret_column(message) != WRONG[i].character)
            fail_msg("'%s': caret not at %zu:\n%s", WRONG[i].expression, WRONG[i].character, message);
        if (!strstr(message, WRONG[i].expression)) fail_msg("the expression is not in: %s", message);
    }
}

static void caret_counts_letters_not_bytes(void **state)
{
    hf_kernel *kernel = NULL;
    const char *names[] = {"\xc3\xb6l"}; /* an umlaut: two bytes, one column on the screen */
    assert_int_equal(hf_kernel_parse(*state, "se(\xc3\xb6l) + bad", names, 1, &kernel), HF_ERR_PARSE);
    assert_int_equal(caret_column(hf_context_message(*state)), 10);
}

static void long_expressions_are_shown_in_part(void **state)
{
    char text[2000] = "se";
    for (size_t i = 0; i < 100; i++) strcat(text, " + matern52");
    strcat(text, " + oops + se + se + se + se + se + se + se + se + se + se + se + se + se + se");
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(*state, text, NULL, 1, &kernel), HF_ERR_PARSE);
    const char *message = hf_context_message(*state), *line = strchr(message, '\n');
    assert_non_null(line);
    assert_true(strstr(line, "...") != NULL);
    const size_t caret = caret_column(message);
    assert_memory_equal(line + 1 + 2 + caret - 1, "oops", 4);
    assert_true(strlen(message) < 512);
}

static void absurd_input_is_refused(void **state)
{
    hf_context *ctx = *state;
    hf_kernel *kernel = NULL;
    char *text = malloc(40000);
    assert_non_null(text);
    memset(text, '(', 39999);
    text[39999] = '\0';
    assert_int_equal(hf_kernel_parse(ctx, text, NULL, 1, &kernel), HF_ERR_PARSE);
    text[1000] = '\0';
    assert_int_equal(hf_kernel_parse(ctx, text, NULL, 1, &kernel), HF_ERR_PARSE);
    assert_non_null(strstr(hf_context_message(ctx), "nested"));
    strcpy(text, "se");
    for (size_t i = 0; i < 256; i++) strcat(text, "+se");
    assert_int_equal(hf_kernel_parse(ctx, text, NULL, 1, &kernel), HF_ERR_PARSE);
    assert_non_null(strstr(hf_context_message(ctx), "more than 256 kernels"));
    assert_int_equal(hf_kernel_parse(ctx, "sm(components=1000)", NULL, 100000, &kernel), HF_ERR_PARSE);
    assert_non_null(strstr(hf_context_message(ctx), "parameters"));
    memset(text, '1', 100);
    text[100] = '\0';
    assert_int_equal(hf_kernel_parse(ctx, text, NULL, 1, &kernel), HF_ERR_PARSE);
    assert_int_equal(hf_kernel_parse(ctx, "se", NULL, 0, &kernel), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_parse(ctx, "se", NULL, 1, NULL), HF_ERR_ARGUMENT);
    assert_null(kernel);
    free(text);
}

static void deepest_nesting_works(void **state)
{
    char text[400] = "";
    for (size_t i = 0; i < 32; i++) strcat(text, "(se+");
    strcat(text, "se");
    for (size_t i = 0; i < 32; i++) strcat(text, ")*se");
    hf_kernel *kernel = parse(*state, text, 2);
    const double x[4] = {0.0, 0.5, 1.0, 0.25};
    double k[4], reference[4];
    assert_int_equal(hf_kernel_gram(*state, kernel, 2, x, 2, k, 2), HF_OK);
    gram_reference(kernel, 2, x, 2, reference, 2);
    assert_close("deep", 1, k[1], reference[1], 1e-12 * reference[0]);
    hf_kernel_free(kernel);
}

/* ---- meaning -------------------------------------------------------------------------------------------- */

/* All names, values and flags of a kernel: "name=1 " held, "name~1 " trained, "!" after what was written. */
static void describe(const hf_kernel *kernel, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t p = 0; p < hf_kernel_parameters(kernel); p++) {
        hf_parameter parameter;
        assert_int_equal(hf_kernel_parameter(kernel, p, &parameter), HF_OK);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%g%s", p ? " " : "", parameter.name,
                                 parameter.fixed ? "=" : "~", parameter.value,
                                 hfi_kernel_parameter_given(kernel, p) ? "!" : "");
        assert_true(used < size);
        assert_true(parameter.lower <= parameter.value && parameter.value <= parameter.upper);
    }
}

typedef struct meaning {
    const char *expression, *described;
} meaning;

static const meaning MEANINGS[] = {
    {"se", "outputscale~1 lengthscale~1"},
    {"rbf", "outputscale~1 lengthscale~1"},
    {"exponential(x1)", "outputscale~1 lengthscale~1"},
    {"se(temp, ard, 'wind speed')", "outputscale~1 lengthscale[0]~1 lengthscale[1]~1"},
    {"se(\"don't\", 'don''t')", NULL},
    {"2.5*se(lengthscale=3)", "outputscale~2.5! lengthscale=3!"},
    {"se(outputscale=4, lengthscale~1e-5)", "outputscale=4! lengthscale~1e-05!"},
    {"2*se(outputscale=4)", "outputscale=8! lengthscale~1"},
    {"2*se*3", "outputscale~6! lengthscale~1"},
    {"rq(alpha=2)", "outputscale~1 lengthscale~1 alpha=2!"},
    {"se(ard, lengthscale[2]=5)",
     "outputscale~1 lengthscale[0]~1 lengthscale[1]~1 lengthscale[2]=5! lengthscale[3]~1"},
    {"linear", "variance~1"},
    {"0.5*linear(x1, x3, ard)", "variance[0]~0.5! variance[1]~0.5!"},
    {"3*constant(variance=2)", "variance=6!"},
    {"3", "variance~3!"},
    {"(3)", "variance~3!"},
    {"(3)*se", "outputscale~3! lengthscale~1"},
    {"2 + se", "constant.variance~2! se.outputscale~1 se.lengthscale~1"},
    {"2 + constant", "constant1.variance~2! constant2.variance~1"},
    {"sm(x1)",
     "weight[0]~0.5 weight[1]~0.5 mean[0,0]~0.1 mean[1,0]~0.2 variance[0,0]~0.01 variance[1,0]~0.01"},
    {"4*sm(x1, components=1, mean[0,0]=2)", "weight[0]~4! mean[0,0]=2! variance[0,0]~0.01"},
    {"matern52(x1) + 0.5*periodic(x3, period=12)",
     "matern52.outputscale~1 matern52.lengthscale~1 periodic.outputscale~0.5! periodic.lengthscale~1 "
     "periodic.period=12!"},
    {"se*periodic", "se.outputscale~1 se.lengthscale~1 periodic.lengthscale~1 periodic.period~1"},
    {"se + se", "se1.outputscale~1 se1.lengthscale~1 se2.outputscale~1 se2.lengthscale~1"},
    {"gaussian + rbf", "se1.outputscale~1 se1.lengthscale~1 se2.outputscale~1 se2.lengthscale~1"},
    {"constant*se", "constant.variance~1 se.lengthscale~1"},
    {"2*(se + white)", "se.outputscale~2! se.lengthscale~1 white.variance~2!"},
    {"((se)) + ((2*(white)))", "se.outputscale~1 se.lengthscale~1 white.variance~2!"},
    {"2*((se)*(periodic))*3", "se.outputscale~6! se.lengthscale~1 periodic.lengthscale~1 periodic.period~1"},
    {"5*(se + 2*rq)*matern12", "se.outputscale~5! se.lengthscale~1 rq.outputscale~10! rq.lengthscale~1 "
                               "rq.alpha~1 matern12.lengthscale~1"},
    {"se ( ) * white( variance = .5e1 )", "se.lengthscale~1 white.variance=5!"},
    {"4*coregion('wind speed', outputs=2, factor[1,0]=-0.5, factor[1,1]~0)",
     "factor[0,0]~2! factor[1,0]=-1! factor[1,1]~0!"},
    {"coregion(rank=1, outputs=2, temp, own~3, factor=0.5)",
     "factor[0,0]=0.5! factor[1,0]=0.5! own[0]~3! own[1]~3!"},
    {"2*coregion(temp, outputs=1)*se(ard)",
     "coregion.factor[0,0]~1.41421! se.lengthscale[0]~1 se.lengthscale[1]~1 se.lengthscale[2]~1"},
    {"linear(ard) + coregion(temp, outputs=1)*(se(temp, ard) + linear(ard)) + coregion(x3, outputs=1)",
     "linear1.variance[0]~1 linear1.variance[1]~1 coregion1.factor[0,0]~1 se.outputscale~1 "
     "se.lengthscale[0]~1 linear2.variance[0]~1 linear2.variance[1]~1 coregion2.factor[0,0]~1"},
    {NULL, "outputscale~1 lengthscale[0]~1 lengthscale[1]~1 lengthscale[2]~1 lengthscale[3]~1"},
};

static void expressions_mean_what_they_say(void **state)
{
    char text[1024];
    for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
        hf_kernel *kernel = NULL;
        const hf_status s = hf_kernel_parse(*state, MEANINGS[i].expression, NAMES, 4, &kernel);
        if (!MEANINGS[i].described) {
            assert_int_equal(s, HF_ERR_PARSE);
            continue;
        }
        if (s != HF_OK) fail_msg("%s: %s", MEANINGS[i].expression, hf_context_message(*state));
        describe(kernel, text, sizeof text);
        if (strcmp(text, MEANINGS[i].described) != 0)
            fail_msg("%s:\n  %s\nexpected\n  %s", MEANINGS[i].expression, text, MEANINGS[i].described);
        hf_kernel_free(kernel);
    }
}

/* A column's own name wins over x<number>; quotes inside quotes are doubled. */
static void columns_are_found(void **state)
{
    hf_kernel *kernel = NULL;
    hf_parameter parameter;
    const size_t expected[] = {2, 3, 1, 0};
    assert_int_equal(hf_kernel_parse(*state, "se(ard, x2, 'don''t', \"wind speed\", x1)", NAMES, 4, &kernel),
                     HF_OK);
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(hf_kernel_parameter(kernel, 1 + j, &parameter), HF_OK);
        assert_int_equal(parameter.column, expected[j]);
        assert_int_equal(parameter.unit, HF_UNIT_INPUT);
    }
    assert_int_equal(hf_kernel_parameter(kernel, 0, &parameter), HF_OK);
    assert_true(parameter.column == SIZE_MAX);
    assert_int_equal(parameter.unit, HF_UNIT_OUTPUT2);
    assert_int_equal(hf_kernel_parameter(kernel, 5, &parameter), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_dimension(kernel), 4);
    hf_kernel_free(kernel);
}

typedef struct unit_case {
    const char *expression, *name;
    hf_unit unit;
    size_t column;
} unit_case;

static void units_say_how_to_rescale(void **state)
{
    static const unit_case cases[] = {
        {"se(x2)", "lengthscale", HF_UNIT_INPUT, 1},
        {"se", "lengthscale", HF_UNIT_INPUT, SIZE_MAX},
        {"rq(x2)", "alpha", HF_UNIT_NONE, SIZE_MAX},
        {"periodic(x3)", "period", HF_UNIT_INPUT, 2},
        {"periodic(x3)", "lengthscale", HF_UNIT_NONE, 2},
        {"linear(ard)", "variance[1]", HF_UNIT_OUTPUT2_INPUT2, 1},
        {"white", "variance", HF_UNIT_OUTPUT2, SIZE_MAX},
        {"sm(x3, x1)", "weight[1]", HF_UNIT_OUTPUT2, SIZE_MAX},
        {"sm(x3, x1)", "mean[1,0]", HF_UNIT_FREQUENCY, 2},
        {"sm(x3, x1)", "variance[0,1]", HF_UNIT_FREQUENCY2, 0},
        {"coregion(x2, outputs=2)", "factor[1,0]", HF_UNIT_OUTPUT, SIZE_MAX},
        {"coregion(x2, outputs=2, rank=1)", "own[1]", HF_UNIT_OUTPUT2, SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_kernel *kernel = parse(*state, cases[i].expression, 3);
        size_t matches[16], count = 0;
        hf_parameter parameter;
        assert_true(hfi_kernel_match(kernel, cases[i].name, matches, &count));
        assert_int_equal(count, 1);
        assert_int_equal(hf_kernel_parameter(kernel, matches[0], &parameter), HF_OK);
        assert_int_equal(parameter.unit, cases[i].unit);
        assert_true(parameter.column == cases[i].column);
        hf_kernel_free(kernel);
    }
}

static void boxes_hold_the_start(void **state)
{
    hf_kernel *kernel = parse(*state, "se(lengthscale~1e-9) + 1e9*matern12", 1);
    hf_parameter parameter;
    assert_int_equal(hf_kernel_parameter(kernel, 0, &parameter), HF_OK);
    assert_close("outputscale lower", 0, log(parameter.lower), -6.0, 1e-12);
    assert_close("outputscale upper", 0, log(parameter.upper), 6.0, 1e-12);
    assert_int_equal(hf_kernel_parameter(kernel, 1, &parameter), HF_OK);
    assert_true(parameter.lower == 1e-9);
    assert_close("lengthscale upper", 0, log(parameter.upper), 7.0, 1e-12);
    assert_int_equal(hf_kernel_parameter(kernel, 2, &parameter), HF_OK);
    assert_true(parameter.upper == 1e9);
    hf_kernel_free(kernel);
}

/* ---- names ---------------------------------------------------------------------------------------------- */

static void names_may_be_shortened(void **state)
{
    hf_context *ctx = *state;
    hf_kernel *kernel = parse(ctx, "se(ard) + se(x1) + periodic(x2)", 2);
    char text[512];
    assert_int_equal(hf_kernel_set(ctx, kernel, "se1.lengthscale", 2.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "se1.lengthscale[1]", 3.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "rbf2.lengthscale", 4.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "period", 5.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "periodic1.lengthscale[0]", 6.0), HF_OK);
    describe(kernel, text, sizeof text);
    assert_string_equal(text,
                        "se1.outputscale~1 se1.lengthscale[0]~2 se1.lengthscale[1]~3 se2.outputscale~1 "
                        "se2.lengthscale~4 periodic.outputscale~1 periodic.lengthscale~6 periodic.period~5");
    assert_int_equal(hf_kernel_set(ctx, kernel, "lengthscale", 1.0), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "se2.lengthscale"));
    assert_int_equal(hf_kernel_set(ctx, kernel, "se.outputscale", 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "se3.lengthscale", 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "perod", 1.0), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "did you mean 'period'?"));
    char after[512];
    describe(kernel, after, sizeof after);
    assert_string_equal(text, after); /* what is refused changes nothing */
    hf_kernel_free(kernel);
}

static void bad_names_and_values_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "lengthscale[2]",
                                      "lengthscale[",
                                      "lengthscale[0",
                                      "lengthscale[0]x",
                                      ".",
                                      "se.",
                                      "matern52.lengthscale",
                                      "lengthscale[0,0]",
                                      "lengthscale[99999999999999999999]",
                                      "alpha",
                                      "se0.lengthscale"};
    static const double values[] = {0.0, -1.0, INFINITY, -INFINITY, NAN, DBL_MIN / 2};
    hf_kernel *kernel = parse(*state, "se(ard)", 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (hf_kernel_set(*state, kernel, bad[i], 1.0) != HF_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_int_equal(hf_kernel_set(*state, kernel, "lengthscale", values[i]), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(*state, NULL, "lengthscale", 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(*state, kernel, NULL, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(*state, kernel, "se.lengthscale", 1e5), HF_OK);
    assert_int_equal(hf_kernel_set(*state, kernel, "se1.lengthscale[1]", 2e5), HF_OK);
    hf_parameter parameter;
    assert_int_equal(hf_kernel_parameter(kernel, 2, &parameter), HF_OK);
    assert_true(parameter.value == 2e5 && parameter.upper == 2e5);
    hf_kernel_free(kernel);
}

static void parameters_can_be_set_directly(void **state)
{
    hf_kernel *kernel = parse(*state, "se", 1);
    double theta[2], lower[2], upper[2];
    assert_int_equal(hfi_kernel_set_parameter(kernel, 1, 2.0, 0.5, 4.0, true), HF_OK);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 1, 5.0, 0.5, 4.0, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 1, 2.0, 0.0, 4.0, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 1, NAN, 0.5, 4.0, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 1, 2.0, 0.5, INFINITY, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 2, 2.0, 0.5, 4.0, true), HF_ERR_ARGUMENT);
    hfi_kernel_theta(kernel, theta);
    hfi_kernel_theta_bounds(kernel, lower, upper);
    assert_close("theta", 1, theta[1], log(2.0), 1e-15);
    assert_close("lower", 1, lower[1], log(0.5), 1e-15);
    assert_close("upper", 1, upper[1], log(4.0), 1e-15);
    theta[0] = 1e6; /* an optimiser gone astray leaves finite values */
    theta[1] = -1e6;
    hfi_kernel_set_theta(kernel, theta);
    hf_parameter parameter;
    assert_int_equal(hf_kernel_parameter(kernel, 0, &parameter), HF_OK);
    assert_true(parameter.value == DBL_MAX);
    assert_int_equal(hf_kernel_parameter(kernel, 1, &parameter), HF_OK);
    assert_true(parameter.value == DBL_MIN);
    hf_kernel_free(kernel);
}

static void copies_are_independent(void **state)
{
    char text[1024], copied[1024];
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS), *copy = NULL;
        shake(kernel, e);
        describe(kernel, text, sizeof text);
        assert_int_equal(hf_kernel_copy(*state, kernel, &copy), HF_OK);
        shake(kernel, e + 1);
        assert_int_equal(hfi_kernel_scratch(copy), hfi_kernel_scratch(kernel));
        hf_kernel_free(kernel);
        describe(copy, copied, sizeof copied);
        assert_string_equal(text, copied);
        assert_string_equal(hf_kernel_expression(copy), EXPRESSIONS[e]);
        hf_kernel_free(copy);
    }
    assert_int_equal(hf_kernel_copy(*state, NULL, NULL), HF_ERR_ARGUMENT);
    hf_kernel_free(NULL);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

typedef struct meter {
    size_t until_failure; /* allocations that still succeed */
    size_t live;
} meter;

static void *metered(size_t bytes, void *user)
{
    meter *m = user;
    if (m->until_failure == 0) return NULL;
    m->until_failure--;
    m->live++;
    return malloc(bytes);
}

static void released(void *memory, void *user)
{
    meter *m = user;
    m->live--;
    free(memory);
}

/* Parse, copy, set, Gram with the k-th allocation failing, for every k: an error, and nothing leaked. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    hf_status s = HF_ERR_MEMORY;
    size_t allowed = 0;
    for (; s < 0 && allowed < 500; allowed++) {
        meter m = {1000, 0};
        const hf_allocator allocator = {metered, released, &m};
        hf_context *ctx = hf_context_create_with(&allocator);
        assert_non_null(ctx);
        const double x[4] = {0.0, 1.0, 2.0, 3.0};
        const size_t before = m.live;
        double k[4] = {-1.0, -1.0, -1.0, -1.0}, grad[20] = {0.0};
        hf_kernel *kernel = NULL, *copy = NULL;
        m.until_failure = allowed;
        s = hf_kernel_parse(ctx, "(se(ard, lengthscale=1) + 2)*rq(x2) + sm", NULL, 2, &kernel);
        if (s >= 0) s = hf_kernel_copy(ctx, kernel, &copy);
        if (s >= 0) s = hf_kernel_set(ctx, copy, "alpha", 2.0);
        if (s >= 0) s = hf_kernel_gram(ctx, copy, 2, x, 2, k, 2);
        if (s >= 0) s = hf_kernel_cross(ctx, copy, 2, x, 2, 2, x, 2, k, 2);
        if (s >= 0) s = hfi_kernel_gram_adjoint(ctx, copy, 2, x, 2, k, 2, grad);
        assert_true(s == HF_OK || s == HF_ERR_MEMORY);
        hf_kernel_free(copy);
        hf_kernel_free(kernel);
        assert_int_equal(m.live, before);
        hf_context_free(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(s, HF_OK);
    assert_true(allowed > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_point_at_the_character),
        cmocka_unit_test(caret_counts_letters_not_bytes),
        cmocka_unit_test(long_expressions_are_shown_in_part),
        cmocka_unit_test(absurd_input_is_refused),
        cmocka_unit_test(deepest_nesting_works),
        cmocka_unit_test(expressions_mean_what_they_say),
        cmocka_unit_test(columns_are_found),
        cmocka_unit_test(units_say_how_to_rescale),
        cmocka_unit_test(boxes_hold_the_start),
        cmocka_unit_test(names_may_be_shortened),
        cmocka_unit_test(bad_names_and_values_are_refused),
        cmocka_unit_test(parameters_can_be_set_directly),
        cmocka_unit_test(copies_are_independent),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
