/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation of several classes: limits, symmetries, differences, and what a posterior of
 * outputs makes of it. */
#include "classify/labels.h"
#include "classify/softmax.h"

enum {
    CLASSES = 3,
    MOST = 16
};

static const char shared[] = "coregion(x3, outputs=3, rank=1, factor=0, own=1)*constant*(matern52(ard))";

typedef struct problem {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    double x[ROWS * INPUTS];
    size_t label[ROWS], classes;
} problem;

static void make(problem *p, const char *expression, size_t classes)
{
    hfi_stream stream;
    p->ctx = hf_context_create();
    p->classes = classes;
    assert_non_null(p->ctx);
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, classes);
    for (size_t i = 0; i < ROWS; i++) {
        p->label[i] = hfi_stream_below(&stream, classes);
        p->x[i * INPUTS] = hfi_stream_normal(&stream) + (double)p->label[i];
        p->x[i * INPUTS + 1] = hfi_stream_normal(&stream) - (p->label[i] == 1 ? 1.0 : 0.0);
    }
    assert_int_equal(hf_kernel_parse(p->ctx, expression, NULL, INPUTS + 1, &p->kernel), HF_OK);
    assert_int_equal(hf_mean_create_outputs(p->ctx, INPUTS + 1, classes, &p->mean), HF_OK);
}

static void drop(problem *p)
{
    hf_kernel_free(p->kernel);
    hf_mean_free(p->mean);
    hf_context_free(p->ctx);
}

static double evidence(problem *p, double *gradient)
{
    double value = NAN;
    if (hf_class_evidence(p->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, p->kernel, p->mean, ROWS, p->x,
                          INPUTS, p->label, p->classes, &value, gradient) != HF_OK)
        fail_msg("%s", hf_context_message(p->ctx));
    return value;
}

static hf_classifier *classifier_by(problem *p, hf_inference inference, size_t rows)
{
    hf_classifier *out = NULL;
    if (hf_classify_exact(p->ctx, HF_LINK_SOFTMAX, inference, p->kernel, p->mean, rows, p->x, INPUTS,
                          p->label, p->classes, &out, NULL) != HF_OK)
        fail_msg("%s", hf_context_message(p->ctx));
    return out;
}

static hf_classifier *classifier(problem *p)
{
    return classifier_by(p, HF_INFERENCE_LAPLACE, ROWS);
}

static void set(problem *p, const char *name, double value)
{
    if (hf_kernel_set(p->ctx, p->kernel, name, value) != HF_OK) fail_msg("%s", hf_context_message(p->ctx));
}

/* Two classes with k/2 each: f_1 - f_0 has the kernel k, and softmax of the two is the logistic function of that. */
static void two_classes_are_the_logit(void **state)
{
    (void)state;
    problem p, binary;
    make(&p, "coregion(x3, outputs=2, rank=1, factor=0, own=1)*constant*(matern52(ard))", 2);
    make(&binary, shared, 2);
    hf_kernel_free(binary.kernel);
    hf_mean_free(binary.mean);
    assert_int_equal(hf_kernel_parse(binary.ctx, "matern52(ard)", NULL, INPUTS, &binary.kernel), HF_OK);
    assert_int_equal(hf_mean_create(binary.ctx, HF_MEAN_CONSTANT, INPUTS, &binary.mean), HF_OK);
    set(&p, "constant.variance", 3.5);
    set(&binary, "outputscale", 7.0);
    const double constants[] = {-0.3, 0.4}, difference = 0.7;
    assert_int_equal(hf_mean_set(p.ctx, p.mean, constants, false), HF_OK);
    assert_int_equal(hf_mean_set(binary.ctx, binary.mean, &difference, false), HF_OK);

    double value = NAN, ours[MOST], theirs[MOST];
    assert_int_equal(hf_class_evidence(binary.ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, binary.kernel,
                                       binary.mean, ROWS, binary.x, INPUTS, binary.label, 2, &value, theirs),
                     HF_OK);
    assert_near(evidence(&p, ours), value, 1e-10 * fabs(value));
    const size_t count = hf_kernel_parameters(p.kernel);
    for (size_t j = 0; j <= INPUTS; j++) /* amplitude and lengthscales come last, and first */
        assert_near(ours[count - INPUTS - 1 + j], theirs[j], 1e-8);
    assert_near(ours[count], -theirs[INPUTS + 1], 1e-8);
    assert_near(ours[count + 1], theirs[INPUTS + 1], 1e-8);

    hf_classifier *many = classifier(&p), *one = NULL;
    assert_int_equal(hf_classify_exact(binary.ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, binary.kernel,
                                       binary.mean, ROWS, binary.x, INPUTS, binary.label, 2, &one, NULL),
                     HF_OK);
    double a[2 * ROWS], b[2 * ROWS], mean[2 * ROWS], var[2 * ROWS], f[ROWS], query[ROWS * INPUTS];
    for (size_t k = 0; k < ROWS * INPUTS; k++) query[k] = 1.3 * p.x[k] + 0.1;
    assert_int_equal(hf_classify_predict(p.ctx, many, ROWS, query, INPUTS, a, NULL, mean, var, NULL), HF_OK);
    assert_int_equal(hf_classify_predict(binary.ctx, one, ROWS, query, INPUTS, b, NULL, f, NULL, NULL),
                     HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        assert_near(mean[2 * i + 1] - mean[2 * i], f[i], 1e-8);
        assert_near(a[2 * i], b[2 * i], 1e-9);
    }
    hf_classifier_free(many);
    hf_classifier_free(one);
    drop(&binary);
    drop(&p);
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    problem p;
    make(&p,
         "coregion(x3, outputs=3, rank=1, factor=0, own=1)*(se(x1) + 0.5*linear(x2) + 0.1*white)*constant",
         CLASSES);
    const double constants[] = {0.2, -0.4, 0.5};
    assert_int_equal(hf_mean_set(p.ctx, p.mean, constants, false), HF_OK);
    const size_t kernel_count = hf_kernel_parameters(p.kernel), count = kernel_count + CLASSES;
    double gradient[MOST], theta[MOST];
    assert_true(count <= MOST);
    evidence(&p, gradient);
    hfi_kernel_theta(p.kernel, theta);
    memcpy(theta + kernel_count, constants, sizeof constants);
    for (size_t i = CLASSES; i < count; i++) { /* the factors, which are 0, couple the classes if moved */
        double side[2];
        for (int s = 0; s < 2; s++) {
            double moved[MOST];
            memcpy(moved, theta, sizeof moved);
            moved[i] += s ? 1e-5 : -1e-5;
            hfi_kernel_set_theta(p.kernel, moved);
            assert_int_equal(hf_mean_set(p.ctx, p.mean, moved + kernel_count, false), HF_OK);
            side[s] = evidence(&p, NULL);
        }
        assert_near(gradient[i], (side[1] - side[0]) / 2e-5, 1e-7 * (1.0 + fabs(gradient[i])));
    }
    drop(&p);
}

/* Numbers of classes are names: another order of them is another order of the answers. */
static void order_of_classes_does_not_matter(void **state)
{
    (void)state;
    static const size_t to[] = {2, 0, 1};
    problem p, q;
    make(&p, shared, CLASSES);
    make(&q, shared, CLASSES);
    for (size_t i = 0; i < ROWS; i++) q.label[i] = to[p.label[i]];
    assert_near(evidence(&p, NULL), evidence(&q, NULL), 1e-10);
    hf_classifier *a = classifier(&p), *b = classifier(&q);
    double pa[CLASSES * ROWS], pb[CLASSES * ROWS], ea[ROWS], eb[ROWS];
    size_t wa[ROWS], wb[ROWS];
    assert_int_equal(hf_classify_predict(p.ctx, a, ROWS, p.x, INPUTS, pa, wa, NULL, NULL, ea), HF_OK);
    assert_int_equal(hf_classify_predict(q.ctx, b, ROWS, q.x, INPUTS, pb, wb, NULL, NULL, eb), HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(to[wa[i]], wb[i]);
        for (size_t c = 0; c < CLASSES; c++)
            assert_near(pa[i * CLASSES + c], pb[i * CLASSES + to[c]], ea[i] + eb[i] + 1e-9);
    }
    hf_classifier_free(a);
    hf_classifier_free(b);
    drop(&q);
    drop(&p);
}

/* The dense S is that of the blocks: at the readings it takes the prior mean to the mode, and K S x is what
 * the blocks say. */
static void posterior_is_that_of_the_blocks(void **state)
{
    (void)state;
    problem p;
    make(&p, shared, CLASSES);
    set(&p, "constant.variance", 30.0);
    hfi_softmax_problem blocks;
    hfi_solution solution;
    double value;
    const size_t length = CLASSES * ROWS;
    assert_int_equal(hfi_softmax_init(p.ctx, p.kernel, p.mean, ROWS, p.x, INPUTS, p.label, CLASSES, &blocks),
                     HF_OK);
    assert_int_equal(hfi_softmax_evaluate(&blocks, &value, NULL), HF_OK);
    assert_true(blocks.converged && blocks.rounds > 2);
    assert_int_equal(hfi_softmax_solution(&blocks, &solution), HF_OK);
    assert_near(solution.log_det, blocks.log_det, 1e-10 * fabs(blocks.log_det));
    double x[CLASSES * ROWS], by_blocks[CLASSES * ROWS], dense[CLASSES * ROWS], whitened[CLASSES * ROWS];
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < length; k++) x[k] = hfi_stream_normal(&stream);
    hfi_softmax_s(&blocks, x, by_blocks);
    size_t ld;
    double *w = hfi_solution_whiten(&solution, 1, x, length, whitened, &ld);
    hfi_solution_spread(&solution, w, dense);
    for (size_t k = 0; k < length; k++) assert_near(dense[k], by_blocks[k], 1e-12);
    hfi_solution_free(&solution);

    hf_classifier *c = classifier(&p);
    double mean[CLASSES * ROWS];
    assert_int_equal(hf_classify_predict(p.ctx, c, ROWS, p.x, INPUTS, NULL, NULL, mean, NULL, NULL), HF_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t b = 0; b < CLASSES; b++)
            assert_near(mean[i * CLASSES + b], blocks.latent[b * ROWS + i], 1e-10);
    hfi_softmax_free(&blocks);
    hf_classifier_free(c);
    drop(&p);
}

static void start_there(hfi_softmax_problem *p)
{
    memcpy(p->kept_alpha, p->alpha, p->classes * p->n * sizeof *p->alpha);
    p->started = true;
}

/* Contradicting labels at equal inputs, a huge prior variance, and a start that is far too confident. */
static void newton_arrives_from_anywhere(void **state)
{
    (void)state;
    problem p;
    make(&p, shared, CLASSES);
    for (size_t i = 0; i < ROWS; i++) p.x[i * INPUTS] = (double)(i % 4), p.x[i * INPUTS + 1] = 0.0;
    set(&p, "constant.variance", 1e6);
    hfi_softmax_problem blocks;
    double cold, warm;
    assert_int_equal(hfi_softmax_init(p.ctx, p.kernel, p.mean, ROWS, p.x, INPUTS, p.label, CLASSES, &blocks),
                     HF_OK);
    assert_int_equal(hfi_softmax_evaluate(&blocks, &cold, NULL), HF_OK);
    assert_true(blocks.converged);
    for (size_t k = 0; k < CLASSES * ROWS; k++) blocks.alpha[k] = k % 5 == 0 ? 1e-3 : -1e-4;
    start_there(&blocks);
    assert_int_equal(hfi_softmax_evaluate(&blocks, &warm, NULL), HF_OK);
    assert_true(blocks.converged);
    assert_near(warm, cold, 1e-6);
    /* what a warm start is for */
    start_there(&blocks);
    assert_int_equal(hfi_softmax_evaluate(&blocks, &warm, NULL), HF_OK);
    assert_true(blocks.rounds <= 2);
    hfi_softmax_free(&blocks);
    drop(&p);
}

static void a_class_with_one_reading(void **state)
{
    (void)state;
    problem p;
    make(&p, shared, CLASSES);
    for (size_t i = 0; i < ROWS; i++) p.label[i] = i == 7 ? 2 : i % 2;
    p.x[7 * INPUTS] = p.x[7 * INPUTS + 1] = 6.0;
    hf_classifier *c = classifier(&p);
    double probability[CLASSES * ROWS];
    assert_int_equal(hf_classify_predict(p.ctx, c, ROWS, p.x, INPUTS, probability, NULL, NULL, NULL, NULL),
                     HF_OK);
    size_t best = 0;
    for (size_t i = 1; i < ROWS; i++)
        if (probability[i * CLASSES + 2] > probability[best * CLASSES + 2]) best = i;
    assert_int_equal(best, 7);
    assert_true(probability[7 * CLASSES + 2] > 0.35 && probability[7 * CLASSES + 2] < 1.0);
    hf_classifier_free(c);
    drop(&p);
}

static void rows_without_a_label_say_nothing(void **state)
{
    (void)state;
    problem p;
    double with, without;
    make(&p, shared, CLASSES);
    p.label[ROWS - 1] = HF_LABEL_MISSING;
    with = evidence(&p, NULL);
    p.x[(ROWS - 1) * INPUTS] = NAN;
    assert_near(evidence(&p, NULL), with, 0.0);
    assert_int_equal(hf_class_evidence(p.ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, p.kernel, p.mean,
                                       ROWS - 1, p.x, INPUTS, p.label, CLASSES, &without, NULL),
                     HF_OK);
    assert_near(without, with, 0.0);
    drop(&p);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    problem p;
    double first[MOST], second[MOST];
    make(&p, shared, CLASSES);
    hf_context_set_threads(p.ctx, 1);
    const double one = evidence(&p, first);
    hf_context_set_threads(p.ctx, 3);
    assert_true(one == evidence(&p, second));
    assert_memory_equal(first, second, (hf_kernel_parameters(p.kernel) + CLASSES) * sizeof *first);
    hf_classifier *three = classifier_by(&p, HF_INFERENCE_CORRECTED, ROWS);
    hf_context_set_threads(p.ctx, 1);
    hf_classifier *alone = classifier_by(&p, HF_INFERENCE_CORRECTED, ROWS);
    assert_memory_equal(hf_classifier_posterior(three)->solution.t,
                        hf_classifier_posterior(alone)->solution.t, CLASSES * ROWS * sizeof *first);
    hf_classifier_free(three);
    hf_classifier_free(alone);
    drop(&p);
}

/* K^-1 (mean - m) at the corrected mean is what a label says beyond the probability of the approximation
 * itself. That is here an integral and there a sum over points; the covariance is
 * Laplace's. */
static void corrected_mean_is_where_it_should_be(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 5; classes++) {
        problem p;
        make(&p, shared, classes);
        hf_kernel_free(p.kernel);
        char *text = hfi_softmax_expression(p.ctx, "matern52(ard)", NULL, INPUTS + 1, classes, true);
        assert_int_equal(hf_kernel_parse(p.ctx, text, NULL, INPUTS + 1, &p.kernel), HF_OK);
        hfi_free(p.ctx, text);
        set(&p, "constant.variance", 60.0);
        hf_classifier *mode = classifier(&p), *mean = classifier_by(&p, HF_INFERENCE_CORRECTED, ROWS);
        double probability[5 * ROWS], before[5 * ROWS], after[5 * ROWS], farthest = 0.0, moved = 0.0;
        assert_int_equal(hf_classify_predict(p.ctx, mode, ROWS, p.x, INPUTS, NULL, NULL, NULL, before, NULL),
                         HF_OK);
        assert_int_equal(
            hf_classify_predict(p.ctx, mean, ROWS, p.x, INPUTS, probability, NULL, NULL, after, NULL), HF_OK);
        const double *t = hf_classifier_posterior(mean)->solution.t,
                     *t_mode = hf_classifier_posterior(mode)->solution.t;
        for (size_t c = 0; c < classes; c++)
            for (size_t i = 0; i < ROWS; i++) {
                const size_t at = i * classes + c;
                const double wanted = (p.label[i] == c ? 1.0 : 0.0) - probability[at];
                farthest = fmax(farthest, fabs(t[c * ROWS + i] - wanted));
                moved = fmax(moved, fabs(t_mode[c * ROWS + i] - wanted));
                assert_near(after[at], before[at], 1e-9 * before[at]);
            }
        if (!(farthest < 0.2 * moved && moved > 0.05))
            fail_msg("%zu classes: %g from the place, and %g before", classes, farthest, moved);
        hf_classifier_free(mode);
        hf_classifier_free(mean);
        drop(&p);
    }
}

/* One reading: the posterior mean is a sum over the three latent values. */
static void corrected_mean_is_nearly_that_of_the_posterior(void **state)
{
    (void)state;
    problem p;
    make(&p, shared, CLASSES);
    const double variances[] = {1.0, 10.0, 100.0};
    for (size_t k = 0; k < 3; k++) {
        set(&p, "constant.variance", variances[k]);
        double mode[CLASSES], mean[CLASSES], exact[CLASSES] = {0}, total = 0.0;
        const double sd = sqrt(variances[k]), step = 0.25;
        for (int a = -26; a <= 26; a++)
            for (int b = -26; b <= 26; b++)
                for (int c = -26; c <= 26; c++) {
                    const double f[] = {sd * step * a, sd * step * b, sd * step * c};
                    const double weight = exp(hfi_softmax_density(CLASSES, p.label[0], 1, f, NULL, NULL) -
                                              0.5 * step * step * (a * a + b * b + c * c));
                    total += weight;
                    for (size_t j = 0; j < CLASSES; j++) exact[j] += weight * f[j];
                }
        hf_classifier *first = classifier_by(&p, HF_INFERENCE_LAPLACE, 1),
                      *second = classifier_by(&p, HF_INFERENCE_CORRECTED, 1);
        assert_int_equal(hf_classify_predict(p.ctx, first, 1, p.x, INPUTS, NULL, NULL, mode, NULL, NULL),
                         HF_OK);
        assert_int_equal(hf_classify_predict(p.ctx, second, 1, p.x, INPUTS, NULL, NULL, mean, NULL, NULL),
                         HF_OK);
        for (size_t j = 0; j < CLASSES; j++) {
            const double wanted = exact[j] / total;
            assert_true(fabs(mean[j] - wanted) < 0.35 * fabs(mode[j] - wanted) + 2e-3 * sd);
        }
        hf_classifier_free(first);
        hf_classifier_free(second);
    }
    drop(&p);
}

static void refused(problem *p, const char *kernel, hf_inference inference, size_t classes,
                    const char *message)
{
    hf_kernel *other = NULL;
    double value = 77.0;
    if (hf_kernel_parse(p->ctx, kernel, NULL, INPUTS + 1, &other) != HF_OK)
        fail_msg("%s", hf_context_message(p->ctx));
    const hf_status s = hf_class_evidence(p->ctx, HF_LINK_SOFTMAX, inference, other, p->mean, ROWS, p->x,
                                          INPUTS, p->label, classes, &value, NULL);
    assert_int_equal(s, HF_ERR_ARGUMENT);
    if (!strstr(hf_context_message(p->ctx), message)) fail_msg("%s", hf_context_message(p->ctx));
    assert_true(value == 77.0);
    hf_kernel_free(other);
}

static void what_is_refused(void **state)
{
    (void)state;
    problem p;
    make(&p, shared, CLASSES);
    refused(&p, "coregion(x3, outputs=3)*se(x1, x2)", HF_INFERENCE_LAPLACE, 3,
            "must make the classes independent");
    refused(&p, "se(x1, x2)", HF_INFERENCE_LAPLACE, 3, "classes 0 and 1 have a covariance");
    refused(&p, shared, HF_INFERENCE_EP, 3, "laplace or corrected, not by ep");
    refused(&p, shared, HF_INFERENCE_LAPLACE, 1, "2 classes or more, not 1");
    refused(&p, shared, HF_INFERENCE_LAPLACE, 2, "numbered from 0");
    drop(&p);
}

static void expressions_make_independent_classes(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const char *const names[] = {"a", "b", "it's"};
    for (int own = 0; own < 2; own++) {
        char *text = hfi_softmax_expression(ctx, "se + linear", "it's", INPUTS + 1, 4, !own);
        hf_kernel *kernel = NULL;
        assert_non_null(text);
        if (hf_kernel_parse(ctx, text, names, INPUTS + 1, &kernel) != HF_OK)
            fail_msg("%s: %s", text, hf_context_message(ctx));
        size_t trained = 0;
        for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
            hf_parameter parameter;
            assert_int_equal(hf_kernel_parameter(kernel, i, &parameter), HF_OK);
            trained += !parameter.fixed;
        }
        /* a variance, and the two terms' own: amplitudes and a lengthscale */
        assert_int_equal(trained, own ? 16 : 4);
        const double x[] = {0.3, 1.0, 2.0}, z[] = {0.4, -1.0, 2.0}, other[] = {0.3, 1.0, 3.0};
        assert_true(hfi_kernel_value(kernel, x, z, false) != 0.0);
        assert_true(hfi_kernel_value(kernel, x, other, false) == 0.0);
        hf_kernel_free(kernel);
        hfi_free(ctx, text);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes_are_the_logit),
        cmocka_unit_test(gradient_agrees_with_differences),
        cmocka_unit_test(order_of_classes_does_not_matter),
        cmocka_unit_test(posterior_is_that_of_the_blocks),
        cmocka_unit_test(newton_arrives_from_anywhere),
        cmocka_unit_test(a_class_with_one_reading),
        cmocka_unit_test(rows_without_a_label_say_nothing),
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(corrected_mean_is_where_it_should_be),
        cmocka_unit_test(corrected_mean_is_nearly_that_of_the_posterior),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(expressions_make_independent_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
