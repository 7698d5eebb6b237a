/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast inspect --moved: how far one reading that becomes another one moves the model. */
#include "fit/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "ROW:OUTPUT=VALUE", "ROW=VALUE" of one output; no value: not taken. */
typedef struct moved {
    size_t row;
    const char *name; /* of the output; NULL if none was said */
    size_t output;
    double y;
} moved;

static bool parse(char *text, moved *out)
{
    char *value = strrchr(text, '='), *end;
    if (value == NULL) return false;
    *value++ = '\0';
    char *colon = strchr(text, ':');
    if (colon != NULL) *colon = '\0';
    out->name = colon != NULL ? colon + 1 : NULL;
    if (text[0] < '0' || text[0] > '9') return false;
    out->row = (size_t)strtoull(text, &end, 10);
    if (*end != '\0') return false;
    out->y = NAN;
    if (*value == '\0') return true;
    return number_until(&value, '\0', &out->y);
}

static bool find_output(const hf_model *model, moved *out)
{
    const size_t outputs = hf_model_outputs(model);
    if (outputs == 1 && out->name == NULL) return true;
    for (size_t t = 0; t < outputs && out->name != NULL; t++) {
        out->output = t;
        if (strcmp(out->name, hf_model_output(model, t)) == 0) return true;
    }
    return false;
}

static void print(tool_session *session, const hf_model *model, const moved *m, const double *kl,
                  double joint)
{
    const size_t outputs = hf_model_outputs(model);
    const char *name = hf_model_output(model, m->output);
    if (!session->json) {
        if (isnan(m->y))
            say(stdout, "Without %s of row %zu the model would move by\n\n", name, m->row);
        else
            say(stdout, "If %s of row %zu were %g, the model would move by\n\n", name, m->row, m->y);
        for (size_t t = 0; t < outputs && outputs > 1; t++)
            say(stdout, "  %-24s %12.6g nats\n", hf_model_output(model, t), kl[t]);
        say(stdout, "  %-24s %12.6g nats\n", outputs > 1 ? "all outputs together" : name, joint);
        return;
    }
    json_t *each = json_object();
    for (size_t t = 0; t < outputs && outputs > 1; t++)
        json_add_named(each, hf_model_output(model, t), json_number(kl[t]));
    session_print(session,
                  JSON_OF({"row", json_count(m->row)}, {"output", json_text(name)}, {"y", json_number(m->y)},
                          {"influence", json_number(joint)}, {"outputs", each}));
}

hf_status inspect_moved(tool_session *session, const hf_model *model, const char *text)
{
    hf_context *ctx = session->ctx;
    const size_t outputs = hf_model_outputs(model);
    char *copy = strdup(text);
    double *kl = calloc(outputs > 0 ? outputs : 1, sizeof *kl), joint = 0.0;
    moved m = {0};
    hf_status status = HF_OK;
    if (copy == NULL || kl == NULL)
        status = session_refuse(session, "out of memory");
    else if (!parse(copy, &m))
        status = session_misuse(session, "--moved is \"%s\", not ROW:OUTPUT=VALUE, such as 12:y2=7.5", text);
    else if (!find_output(model, &m))
        status = m.name != NULL
                     ? session_refuse(session, "--moved %s: the model has no output \"%s\"", text, m.name)
                     : session_refuse(session, "--moved %s: which of the %zu outputs? Say ROW:OUTPUT=VALUE",
                                      text, outputs);
    if (status >= 0) status = hf_model_influence(ctx, model, m.row, m.output, m.y, kl, &joint);
    progress_clear(session->progress);
    if (status >= 0) print(session, model, &m, kl, joint);
    TOOL_FREE(copy, kl);
    return status;
}
