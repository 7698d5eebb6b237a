/* SPDX-License-Identifier: Apache-2.0 */
/* Models as one file of C. */
#include "export/export_c.h"
#include "core/settings.h"

/* ---- declarations --------------------------------------------------------------------------------------- */

static void write_comment(hfi_emitter *e, const hf_model *model, const hfi_readout *readout,
                          const hfi_probes *probes)
{
    hfi_emit_head(e, "A Gaussian process model", model->source, model->checksum);
    hfi_emit_inputs(e, model->d, (const char *const *)model->feature);
    hfi_emit(e, " * Target: ");
    hfi_emit_words(e, model->target);
    for (size_t t = 0; t < model->outputs && hfi_export_named(model); t++) {
        hfi_emit(e, "\n *     output %zu: ", t);
        hfi_emit_words(e, model->output[t]);
    }
    for (size_t c = 0; c < model->classes; c++) {
        hfi_emit(e, "\n *     %s class: ", c == 0 ? "first" : "second");
        hfi_emit_words(e, model->class_name[c]);
    }
    hfi_emit(e, "\n * Kernel: ");
    hfi_emit_words(e, hf_kernel_expression(model->posterior->kernel));
    hfi_emit(e, "\n *\n * Result: %s.\n", e->mean_only ? "mean of the function" : readout->comment);
    if (model->noise_column != NULL) hfi_emit(e, " * The known noise of a row is not part of sd_observed.\n");
    if (e->single)
        hfi_emit(
            e,
            " * Single precision%s: at %zu probes the mean was off by %.1e of the target's scale at most,\n"
            " * the latent standard deviation by %.1e.\n",
            e->compact ? ", most of the factor in 16 bits" : "", probes->count, probes->mean_error,
            probes->sd_error);
    hfi_emit(e, " */\n");
}

static void write_declarations(hfi_emitter *e, const hf_model *model, const hfi_readout *readout)
{
    const char *output = hfi_export_named(model) ? "unsigned output, " : "";
    char outputs[80] = "";
    if (hfi_export_named(model))
        hfi_print(outputs, sizeof outputs, "#define `_OUTPUTS %zuU\n", model->outputs);
    hfi_emit(e,
             "#ifndef HOLDFAST_`_DECLARED\n#define HOLDFAST_`_DECLARED\ntypedef %s `_real;\n"
             "#define `_INPUTS %zuU\n%stypedef struct `_result {\n    `_real mean;\n",
             e->single ? "float" : "double", model->d, outputs);
    if (!e->mean_only) hfi_emit(e, "    `_real sd_latent;\n    `_real sd_observed;\n%s", readout->fields);
    hfi_emit(e,
             "} `_result;\n/* 0, or 1 where an input is not finite%s: then *result is as it was. */\n"
             "int `(const `_real x[`_INPUTS], %s`_result *result);\n#endif\n\n"
             "#ifndef HOLDFAST_DECLARATIONS\n",
             hfi_export_named(model) ? " or there is no such output" : "", output);
}

/* ---- the function --------------------------------------------------------------------------------------- */

static void write_targets(hfi_emitter *e, const hf_posterior *posterior)
{
    const hfi_scaling *scaling = &posterior->scaling;
    double *work = hfi_emit_room(e, scaling->outputs);
    if (work == NULL) return;
    for (size_t t = 0; t < scaling->outputs; t++) work[t] = hfi_scaling_shift(scaling, t);
    hfi_emit(e, "\n");
    hfi_emit_table(e, "target_shift", scaling->outputs, work, 1);
    for (size_t t = 0; t < scaling->outputs; t++) work[t] = hfi_scaling_scale(scaling, t);
    hfi_emit_scales(e, "target_scale", scaling->outputs, work);
    for (size_t t = 0; t < scaling->outputs && !e->mean_only; t++)
        work[t] = hfi_posterior_noise(posterior, t);
    if (!e->mean_only) hfi_emit_table(e, "noise_variance", scaling->outputs, work, 1);
    hfi_free(e->ctx, work);
}

static void write_function(hfi_emitter *e, const hf_model *model, const hfi_readout *readout)
{
    const bool several = hfi_export_named(model);
    readout->helpers(e, model);
    write_targets(e, model->posterior);
    hfi_emit(e,
             "\nint `(const `_real x[`_INPUTS], %s`_result *result)\n{\n    double scaled[TOTAL];\n"
             "    int bad = scale_inputs(x, scaled);\n%s",
             several ? "unsigned output, " : "",
             several ? "    if (output >= `_OUTPUTS) {\n        bad = 1;\n    }\n"
                     : "    const unsigned output = 0U;\n");
    hfi_emit(e,
             "    if (bad == 0) {\n        const double scale = target_scale[output];\n"
             "        double mean;\n        double latent;\n%s%s        posterior(scaled, &mean, &latent);\n"
             "        mean = (mean * scale) + target_shift[output];\n",
             e->mean_only ? "" : "        double observed;\n",
             several ? "        scaled[TOTAL - 1U] = (double)output;\n" : "");
    if (e->mean_only) {
        hfi_emit(e, "        result->mean = (`_real)mean;\n");
    } else {
        hfi_emit(e, "        observed = ");
        hfi_emit_number(e, hf_posterior_calibration(model->posterior));
        hfi_emit(e, " * (latent + noise_variance[output]);\n        latent = latent * scale * scale;\n"
                    "        observed = observed * scale * scale;\n");
        hfi_emit(e, "%s", readout->code);
    }
    hfi_emit(e, "    }\n    return bad;\n}\n");
}

static void write_model(hfi_emitter *e, const hf_model *model, const hfi_readout *readout,
                        const hfi_probes *probes)
{
    write_comment(e, model, readout, probes);
    hfi_emit_includes(e);
    write_declarations(e, model, readout);
    hfi_emit_scaling(e, model->d, &model->posterior->scaling);
    hfi_emit_posterior(e, model->posterior);
    write_function(e, model, readout);
    hfi_emit_self_test(e, model, readout, probes);
    hfi_emit(e, "#endif\n");
}

/* Names of the file, before anything is computed; of a factor in single precision all that it may have. */
static hf_status look_at_names(hfi_emitter *e, const hf_model *model, const hfi_readout *readout)
{
    double t[] = {1.0, 0.0, 1.0, 1.0}, step[] = {1.0, 1.0};
    const hfi_probes none = {.d = model->posterior->solution.d};
    e->split = (hfi_split_factor){.n = 2, .lead = 1, .compact = e->compact, .t = t, .step = step};
    write_model(e, model, readout, &none);
    e->split = (hfi_split_factor){0};
    return e->status;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static hf_status check_model_export(hf_context *ctx, const hf_model *model,
                                    const hf_export_settings *settings, const hfi_readout **readout)
{
    hf_status status = hfi_export_readout(ctx, model, readout);
    if (status >= 0) status = hfi_export_check_kernel(ctx, model->posterior->kernel);
    if (status >= 0 && settings->mean_only && (*readout)->fields[0] != '\0')
        return hfi_refuse(ctx,
                          "mean_only is for plain readings: the answer of this model needs the variance");
    return status;
}

static void fill_export_report(const hfi_emitter *e, const hf_posterior *posterior, const hfi_probes *probes,
                               hf_export_report *report)
{
    const size_t numbers =
        posterior->solution.d + (e->mean_only ? 0 : hfi_solution_rank(&posterior->solution));
    const size_t split = e->split.lead * sizeof(double) + (e->split.n - e->split.lead) * sizeof(float);
    if (report == NULL) return;
    *report = (hf_export_report){.data_bytes = e->bytes,
                                 .stack_bytes = numbers * sizeof(double) + split,
                                 .probes = e->single ? probes->count : 0,
                                 .mean_error = probes->mean_error,
                                 .sd_error = probes->sd_error};
}

hf_status hf_export_c(hf_context *ctx, const hf_model *model, const hf_export_settings *settings,
                      const char *path, hf_export_report *report)
{
    const hfi_readout *readout = NULL;
    hfi_emitter e;
    hfi_probes probes;
    if (ctx == NULL || model == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_export_c: context, model and path must not be NULL");
    hf_export_settings own;
    hf_status status = hfi_settings_open(ctx, hf_export_settings_table(), settings, &own);
    if (status >= 0) status = check_model_export(ctx, model, &own, &readout);
    if (status >= 0) status = hfi_emit_begin(ctx, &own, &e);
    if (status >= 0) status = look_at_names(&e, model, readout);
    if (status >= 0) status = hfi_emit_to(&e, path);
    if (status < 0) return status;
    e.status = hfi_probes_make(ctx, &e, model->posterior, &probes);
    if (e.status >= 0) write_model(&e, model, readout, &probes);
    status = hfi_emit_end(&e);
    if (status >= 0) fill_export_report(&e, model->posterior, &probes, report);
    hfi_probes_free(ctx, &probes);
    return status;
}
