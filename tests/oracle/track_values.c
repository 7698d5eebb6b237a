/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_values.c
 * @brief Tracks, one event or question per line, one JSON object per answer.
 *
 *     track METHOD D            settings as by default; the box is [-1, 1]^D
 *     kernel EXPRESSION         the expression is the rest of the line
 *     number NAME VALUE         a setting that is a number
 *     age KIND RATE N           then N rows of a table: age, added
 *     rules DISCARD BETA PLACES
 *     create
 *     tell T X... Y NOISE       nothing is printed
 *     requests T                {"id": [...], "x": [...], "sd": [...]}, of this time
 *     answer ID T Y NOISE       nothing is printed
 *     ask T                     the suggestion
 *     posterior T M             then M rows: inputs. {"mean", "sd"}; the sd is that of the spread
 *     readings                  {"id", "weight", "variance", "counts"}, at the clock
 */
#include "read_text.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 8
};

typedef struct state {
    hf_context *ctx;
    hf_track_settings settings;
    hf_track *track;
    size_t d;
    double lower[MOST], upper[MOST], *ages, *added;
    char kernel[512];
} state;

static const char *word(void)
{
    static char text[64];
    if (scanf("%63s", text) != 1) fail("a word was expected");
    return text;
}

static void begin(state *s)
{
    hf_track_method method;
    must(s->ctx, hf_enum_parse(s->ctx, HF_ENUM_TRACK_METHOD, word(), &method), "method");
    s->settings = hf_track_settings_default(method);
    s->d = (size_t)read_number();
    if (s->d > MOST) fail("too many inputs");
    for (size_t j = 0; j < s->d; ++j) {
        s->lower[j] = -1.0;
        s->upper[j] = 1.0;
    }
    s->settings.domain = (hf_domain){.dimension = s->d, .lower = s->lower, .upper = s->upper};
}

static void read_kernel(state *s)
{
    if (!fgets(s->kernel, sizeof s->kernel, stdin)) fail("an expression was expected");
    s->kernel[strcspn(s->kernel, "\n")] = '\0';
    s->settings.kernel = s->kernel;
}

static void read_setting(state *s)
{
    const struct {
        const char *name;
        double *number;
    } rows[] = {{"noise", &s->settings.noise},
                {"expert_noise", &s->settings.expert_noise},
                {"discard_variance", &s->settings.discard_variance},
                {"negligible", &s->settings.negligible},
                {"window", &s->settings.window},
                {"forgetting", &s->settings.forgetting},
                {"beta", &s->settings.beta},
                {"norm_bound", &s->settings.norm_bound},
                {"delta", &s->settings.delta},
                {"robust", &s->settings.robust},
                {"query_factor", &s->settings.query_factor},
                {"query_power", &s->settings.query_power},
                {"every", &s->settings.every},
                {"tolerance", &s->settings.tolerance},
                {"superseded", &s->settings.superseded}};
    const char *name = word();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (strcmp(name, rows[i].name) != 0) continue;
        *rows[i].number = read_number();
        return;
    }
    if (strcmp(name, "queries") == 0) {
        s->settings.queries = (size_t)read_number();
    } else if (strcmp(name, "mean") == 0) {
        s->settings.mean_given = true;
        s->settings.mean = read_number();
    } else {
        fail("unknown setting");
    }
}

static void read_age(state *s)
{
    hf_age_law *law = &s->settings.age;
    must(s->ctx, hf_enum_parse(s->ctx, HF_ENUM_AGE_KIND, word(), &law->kind), "age");
    law->rate = read_number();
    law->entries = (size_t)read_number();
    free(s->ages);
    free(s->added);
    s->ages = malloc((law->entries + 1) * sizeof *s->ages);
    s->added = malloc((law->entries + 1) * sizeof *s->added);
    if (!s->ages || !s->added) fail("out of memory");
    for (size_t i = 0; i < law->entries; ++i) {
        s->ages[i] = read_number();
        s->added[i] = read_number();
    }
    law->ages = s->ages;
    law->added = s->added;
}

static void read_rules(state *s)
{
    must(s->ctx, hf_enum_parse(s->ctx, HF_ENUM_DISCARD_RULE, word(), &s->settings.discard), "discard");
    must(s->ctx, hf_enum_parse(s->ctx, HF_ENUM_BETA_RULE, word(), &s->settings.beta_rule), "beta");
    must(s->ctx, hf_enum_parse(s->ctx, HF_ENUM_PLACE_RULE, word(), &s->settings.places), "places");
}

static void create(state *s)
{
    hf_track_free(s->track);
    s->track = NULL;
    must(s->ctx, hf_track_create(s->ctx, &s->settings, &s->track), "create");
}

static void tell(state *s)
{
    double x[MOST];
    const double time = read_number();
    for (size_t j = 0; j < s->d; ++j) x[j] = read_number();
    const double y = read_number(), noise = read_number();
    must(s->ctx, hf_track_tell(s->ctx, s->track, time, x, y, noise, NULL), "tell");
}

static json_t *requests(state *s)
{
    const double time = read_number();
    size_t count = 0;
    must(s->ctx, hf_track_requests(s->ctx, s->track, time, &count), "requests");
    json_t *ids = json_array(), *x = json_array(), *sd = json_array();
    for (size_t i = 0; i < hf_track_pending_count(s->track); ++i) {
        hf_track_request request;
        must(s->ctx, hf_track_request_at(s->track, i, &request), "request");
        if (request.time != time) continue;
        json_array_append_new(ids, json_integer((json_int_t)request.id));
        json_array_append_new(x, array_json(s->d, request.x));
        json_array_append_new(sd, number_json(request.sd));
    }
    if (json_array_size(ids) != count) fail("the number of requests is another");
    return json_pack("{so so so}", "id", ids, "x", x, "sd", sd);
}

static void answer(state *s)
{
    const uint64_t id = (uint64_t)read_number();
    const double time = read_number(), y = read_number(), noise = read_number();
    must(s->ctx, hf_track_answer(s->ctx, s->track, id, time, y, noise), "answer");
}

static json_t *ask_next(state *s)
{
    double x[MOST];
    hf_suggestion a;
    must(s->ctx, hf_track_ask(s->ctx, s->track, read_number(), x, &a), "ask");
    return json_pack("{so sf sf sf sf si si si sf sf}", "x", array_json(s->d, x), "mean", a.mean, "sd", a.sd,
                     "bound", a.bound, "beta", a.beta, "readings", (int)a.readings, "answers", (int)a.answers,
                     "places", (int)a.places, "information", a.information, "prior_mean", a.prior_mean);
}

static json_t *posterior(state *s)
{
    const double time = read_number();
    const size_t m = (size_t)read_number();
    double *x = read_numbers(m * s->d), *out = malloc((2 * m + 1) * sizeof *out);
    hf_posterior *mean = NULL, *spread = NULL;
    if (!out) fail("out of memory");
    must(s->ctx, hf_track_posterior(s->ctx, s->track, time, &mean, &spread), "posterior");
    must(s->ctx, hf_predict(s->ctx, mean, m, x, s->d, out, out + m, NULL), "predict");
    if (spread) must(s->ctx, hf_predict(s->ctx, spread, m, x, s->d, NULL, out + m, NULL), "spread");
    for (size_t i = m; i < 2 * m; ++i) out[i] = sqrt(out[i]);
    json_t *made = json_pack("{so so}", "mean", array_json(m, out), "sd", array_json(m, out + m));
    hf_posterior_free(mean);
    hf_posterior_free(spread);
    free(x);
    free(out);
    return made;
}

static json_t *readings(state *s)
{
    hf_track_summary summary;
    json_t *ids = json_array(), *weights = json_array(), *variances = json_array(), *counts = json_array();
    hf_track_summary_of(s->track, &summary);
    for (size_t i = 0; i < summary.held; ++i) {
        hf_track_reading r;
        must(s->ctx, hf_track_reading_at(s->track, i, &r), "reading");
        json_array_append_new(ids, json_integer((json_int_t)r.id));
        json_array_append_new(weights, number_json(r.weight));
        json_array_append_new(variances, number_json(r.variance));
        json_array_append_new(counts, json_boolean(r.counts));
    }
    return json_pack("{so so so so}", "id", ids, "weight", weights, "variance", variances, "counts", counts);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*event)(state *);
        json_t *(*question)(state *);
    } lines[] = {{"track", begin, NULL},  {"kernel", read_kernel, NULL},  {"number", read_setting, NULL},
                 {"age", read_age, NULL}, {"rules", read_rules, NULL},    {"create", create, NULL},
                 {"tell", tell, NULL},    {"answer", answer, NULL},       {"requests", NULL, requests},
                 {"ask", NULL, ask_next}, {"posterior", NULL, posterior}, {"readings", NULL, readings}};
    state s = {.ctx = hf_context_create()};
    char name[32];
    if (!s.ctx) fail("out of memory");
    while (scanf("%31s", name) == 1) {
        size_t i = 0;
        while (i < sizeof lines / sizeof *lines && strcmp(name, lines[i].name) != 0) ++i;
        if (i == sizeof lines / sizeof *lines) fail("unknown line");
        if (lines[i].event) {
            lines[i].event(&s);
        } else {
            print_json(lines[i].question(&s));
            if (fflush(stdout) != 0) fail("cannot write");
        }
    }
    hf_track_free(s.track);
    free(s.ages);
    free(s.added);
    hf_context_free(s.ctx);
    return 0;
}
