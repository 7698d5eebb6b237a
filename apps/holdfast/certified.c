/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a verb about certified ranges, and its table of answers. */
#include "certified.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

hf_status certified_refuse(certified *run, const char *format, ...)
{
    va_list args;
    progress_clear(run->session.progress);
    fputs("holdfast: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    run->refused = TOOL_FAILED;
    return HF_ERR_ARGUMENT;
}

hf_status certified_misuse(certified *run, const char *format, ...)
{
    va_list args;
    progress_clear(run->session.progress);
    fputs("holdfast: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fprintf(stderr, "Try 'holdfast %s --help'.\n", run->arguments->verb->name);
    run->refused = TOOL_USAGE;
    return HF_ERR_ARGUMENT;
}

int certified_open(const tool_arguments *arguments, certified *out)
{
    *out = (certified){.arguments = arguments};
    return session_open(arguments, &out->session);
}

hf_status certified_load(certified *run)
{
    const char *output = argument(run->arguments, "output");
    if ((output == NULL || strcmp(output, "-") == 0) && run->session.json)
        return certified_misuse(run,
                                "--json and the table cannot both go to standard output; add -o OUT.csv");
    if (is_unwritable(output)) {
        run->refused = TOOL_FAILED;
        return HF_ERR_IO;
    }
    const hf_status status = hf_model_load(run->session.ctx, run->arguments->operand[0], &run->model);
    if (status < 0) return status;
    run->posterior = hf_model_posterior(run->model);
    run->classifier = hf_model_classifier(run->model);
    run->d = hf_model_features(run->model);
    run->unit = calloc(run->d + 1, sizeof *run->unit);
    if (run->unit == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d; j++) run->unit[j] = 1.0;
    return HF_OK;
}

int certified_close(certified *run, hf_status status)
{
    if (run->csv != NULL) fclose(run->csv);
    free(run->text);
    free(run->x);
    free(run->lower);
    free(run->upper);
    free(run->unit);
    hf_model_free(run->model);
    const int code = session_close(&run->session, run->refused != 0 ? HF_OK : status);
    return run->refused != 0 ? run->refused : code;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

static void print_field(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

hf_status certified_begin(certified *run, const char *const *names)
{
    for (size_t k = 0; names[k] != NULL; k++)
        for (size_t j = 0; j < run->d; j++)
            if (strcmp(names[k], hf_model_feature(run->model, j)) == 0)
                return certified_refuse(
                    run, "an input is called \"%s\" like a column of the result; rename it", names[k]);
    if (run->csv != NULL) fclose(run->csv);
    free(run->text);
    run->text = NULL;
    run->csv = open_memstream(&run->text, &run->length);
    if (run->csv == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d; j++) {
        if (j > 0) fputc(',', run->csv);
        print_field(run->csv, hf_model_feature(run->model, j));
    }
    for (size_t k = 0; names[k] != NULL; k++) fprintf(run->csv, ",%s", names[k]);
    return HF_OK;
}

void certified_number(certified *run, double value)
{
    fprintf(run->csv, isnan(value) ? "," : ",%.17g", value);
}

void certified_row(certified *run, const double *point)
{
    fputc('\n', run->csv);
    for (size_t j = 0; j < run->d; j++) {
        if (j > 0) fputc(',', run->csv);
        if (!isnan(point[j])) fprintf(run->csv, "%.17g", point[j]);
    }
}

void certified_class(certified *run, size_t class)
{
    fputc(',', run->csv);
    print_field(run->csv, hf_model_class(run->model, class));
}

hf_status certified_write(certified *run, const char *path)
{
    hf_table *table = NULL;
    fputc('\n', run->csv);
    const bool whole = fclose(run->csv) == 0;
    run->csv = NULL;
    if (!whole) return HF_ERR_MEMORY;
    progress_clear(run->session.progress);
    hf_status status = hf_table_parse_csv(run->session.ctx, run->text, run->length, "the answers", &table);
    if (status >= 0) status = hf_table_write_csv(run->session.ctx, table, path != NULL ? path : "-");
    hf_table_free(table);
    return status;
}

/* ---- what is asked about -------------------------------------------------------------------------------------- */

hf_status certified_of(certified *run, size_t *out)
{
    const char *name = argument(run->arguments, "of");
    const size_t classes = hf_model_classes(run->model), outputs = hf_model_outputs(run->model);
    const size_t count = classes > 0 ? classes : outputs;
    *out = classes == 2 ? 1 : 0;
    if (name == NULL) return HF_OK;
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, classes > 0 ? hf_model_class(run->model, k) : hf_model_output(run->model, k)) == 0) {
            *out = k;
            return HF_OK;
        }
    return certified_refuse(run, "--of: the model has no %s \"%s\"; the first is \"%s\"",
                            classes > 0 ? "class" : "output", name,
                            classes > 0 ? hf_model_class(run->model, 0) : hf_model_output(run->model, 0));
}
