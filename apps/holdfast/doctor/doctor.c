/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast doctor: what this machine and this build have, what is slow, and what to do about it. */
#include "plot/plot.h"
#include "shell/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    WORDS = 200,
    FLAGS_BYTES = 8192
};

/* How a thing is. */
typedef enum verdict {
    FINE,
    ABSENT,
    SLOW,
    VERDICTS
} verdict;

typedef struct finding {
    verdict verdict;
    char words[WORDS], advice[WORDS]; /* no advice: "" */
} finding;

/* All that the checks look at. */
typedef struct machine {
    hf_context *ctx;
    char flags[FLAGS_BYTES]; /* of the processor, a blank on either side of each; "" if they are not known */
    long processors;
} machine;

static void find_words(finding *f, verdict v, const char *format, ...) HF_PRINTF(3, 4);
static void find_advice(finding *f, verdict v, const char *format, ...) HF_PRINTF(3, 4);

static void find_words(finding *f, verdict v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->words, sizeof f->words, format, args);
    va_end(args);
    f->verdict = v;
}

/* Advice makes a finding worse, never better. */
static void find_advice(finding *f, verdict v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->advice, sizeof f->advice, format, args);
    va_end(args);
    if (v > f->verdict) f->verdict = v;
}

/* ---- the processor ----------------------------------------------------------------------------------------- */

static void read_flags(machine *m)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && getline(&line, &room, file) > 0) {
        if (strncmp(line, "flags", 5) != 0) continue;
        const char *colon = strchr(line, ':');
        if (colon != NULL) snprintf(m->flags, sizeof m->flags, "%s ", colon + 1);
        m->flags[strcspn(m->flags, "\n")] = ' ';
        break;
    }
    if (file != NULL) fclose(file);
    free(line);
}

static bool has_flag(const machine *m, const char *flag)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s ", flag);
    return strstr(m->flags, wanted) != NULL;
}

/* ---- BLAS -------------------------------------------------------------------------------------------------- */

/* OpenBLAS names the processor that its kernels are made for by the word before MAX_THREADS. */
static void core_of(const char *description, char core[32])
{
    const char *end = strstr(description, " MAX_THREADS");
    *core = '\0';
    if (end == NULL) return;
    const char *begin = end;
    while (begin > description && begin[-1] != ' ') begin--;
    snprintf(core, 32, "%.*s", (int)(end - begin), begin);
}

/* Kernels of processors without AVX2. */
static bool is_old_core(const char *core)
{
    static const char *const old[] = {"Prescott", "Generic", "Core2",       "Penryn",    "Dunnington",
                                      "Nehalem",  "Atom",    "Sandybridge", "Barcelona", "Bulldozer"};
    for (size_t k = 0; k < sizeof old / sizeof old[0]; k++)
        if (strcasecmp(core, old[k]) == 0) return true;
    return false;
}

static void check_blas(const machine *m, finding *f)
{
    const char *name = hf_blas_description();
    char core[32];
    core_of(name, core);
    find_words(f, FINE, "%.*s", (int)strcspn(name, "("), name);
    if (hf_blas_is_slow())
        find_advice(
            f, SLOW,
            "several times slower than need be: install libopenblas-pthread-dev (Debian) and build again");
    else if (is_old_core(core) && has_flag(m, "avx2"))
        find_advice(f, SLOW, "its kernels are those of an older processor (%s): %s", core,
                    getenv("OPENBLAS_CORETYPE") != NULL ? "unset OPENBLAS_CORETYPE"
                                                        : "install a newer OpenBLAS");
    else if (getenv("OPENBLAS_CORETYPE") != NULL)
        find_advice(f, FINE,
                    "OPENBLAS_CORETYPE=%.40s chose the kernels; without it OpenBLAS chooses by the processor",
                    getenv("OPENBLAS_CORETYPE"));
}

static void check_speed(const machine *m, finding *f)
{
    const double rate = flops_per_second(m->ctx);
    if (isnan(rate)) {
        find_words(f, ABSENT, "could not be measured");
        return;
    }
    const double n = 5000.0, seconds = n * n * n / rate;
    char time[TOOL_WORDS];
    find_words(f, FINE, "%.3g billion operations a second; one evaluation for 5000 readings takes %s",
               rate / 1e9, time_in_words(seconds, time));
    if (rate < 1e9)
        find_advice(f, SLOW,
                    "a processor of the last ten years does ten times as many: look at BLAS, threads, and "
                    "what else is running");
}

/* ---- threads, loops, memory -------------------------------------------------------------------------------- */

/* Programs that want a processor, on average over a minute; NaN if nobody says. */
static double load_of_machine(void)
{
    char text[64] = "", *end = text;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file == NULL) return NAN;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    const double load = read ? strtod(text, &end) : NAN;
    return end != text ? load : NAN;
}

static void check_threads(const machine *m, finding *f)
{
    const int threads = hf_context_threads(m->ctx);
    const char *policy = getenv("OMP_WAIT_POLICY");
    const double load = load_of_machine();
    find_words(f, FINE, "%d thread%s, %ld processor%s (OpenMP; each call of BLAS runs on one of them)",
               threads, threads == 1 ? "" : "s", m->processors, m->processors == 1 ? "" : "s");
    if (threads < m->processors && getenv("OMP_NUM_THREADS") != NULL)
        find_advice(f, SLOW, "OMP_NUM_THREADS=%s, or who began the process, allows no more: unset it",
                    getenv("OMP_NUM_THREADS"));
    else if (threads < m->processors)
        find_advice(
            f, SLOW,
            "the process may use no more of them: look at taskset, the container or the batch system");
    else if (load > 1.5 * (double)m->processors)
        find_advice(f, SLOW,
                    "the load is %.1f: other programs want the processors; fewer --threads may be quicker",
                    load);
    else if (policy != NULL && strcasecmp(policy, "active") == 0)
        find_advice(f, SLOW,
                    "OMP_WAIT_POLICY=active lets threads that wait take the processors of others: unset it");
}

static void check_loops(const machine *m, finding *f)
{
    const char *loops = hf_vector_description();
    const char *best = has_flag(m, "avx512f") ? "AVX-512" : has_flag(m, "avx2") ? "AVX2" : "generic";
    find_words(f, FINE, "%s", loops);
    const bool narrow = (strncmp(loops, "AVX2", 4) == 0 && strcmp(best, "AVX-512") == 0) ||
                        (strncmp(loops, "generic", 7) == 0 && strcmp(best, "generic") != 0);
    if (narrow && strstr(loops, "run") == NULL)
        find_advice(f, SLOW, "the processor has %s: build with -DHF_VECTOR=auto", best);
}

/* A line of /proc/meminfo in bytes; NaN if it is not there. */
static double memory_line(const char *name)
{
    char *line = NULL;
    size_t room = 0;
    double bytes = NAN;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && isnan(bytes) && getline(&line, &room, file) > 0)
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            bytes = 1024.0 * strtod(line + strlen(name) + 1, NULL);
    if (file != NULL) fclose(file);
    free(line);
    return bytes;
}

static void check_memory(const machine *m, finding *f)
{
    const double total = memory_line("MemTotal"), available = memory_line("MemAvailable");
    char all[TOOL_WORDS], left[TOOL_WORDS];
    (void)m;
    if (isnan(total) || isnan(available)) {
        find_words(f, ABSENT, "this system does not say");
        return;
    }
    /* The exact solver holds some three matrices of n x n. */
    find_words(f, FINE, "%s of %s are free: enough for an exact fit of some %.0f readings",
               bytes_in_words(available, left), bytes_in_words(total, all),
               floor(sqrt(available / 24.0) / 1000.0) * 1000.0);
    if (available < 1e9)
        find_advice(f, SLOW,
                    "close other programs, or use --solver inducing, which needs memory for few rows");
}

/* ---- programs and parts that may be missing ---------------------------------------------------------------- */

static void check_gnuplot(const machine *m, finding *f)
{
    (void)m;
    find_words(f, FINE, "there; pictures can be drawn");
    if (plot_has_gnuplot()) return;
    find_words(f, ABSENT, "not found");
    find_advice(f, ABSENT, "for pictures install gnuplot (Debian: gnuplot-nox); --data-only does without");
}

static void check_mpi(const machine *m, finding *f)
{
    (void)m;
#ifdef HF_WITH_MPI
    find_words(f, FINE, "in this build: mpirun -n 4 holdfast fit ...");
#else
    find_words(f, ABSENT, "not in this build");
    find_advice(f, ABSENT, "only fits by several machines need it: build with -DHF_MPI=ON");
#endif
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

static const struct doctor_check {
    const char *name;
    void (*look)(const machine *m, finding *f);
} checks[] = {{"BLAS", check_blas},   {"speed", check_speed},   {"threads", check_threads},
              {"loops", check_loops}, {"memory", check_memory}, {"gnuplot", check_gnuplot},
              {"MPI", check_mpi}};

enum {
    CHECKS = sizeof checks / sizeof checks[0]
};

static const struct {
    const char *word;
    tool_colour colour;
} verdicts[VERDICTS] = {{"fine", TOOL_GREEN}, {"absent", TOOL_PLAIN}, {"slow", TOOL_YELLOW}};

static void print_finding(const char *name, const finding *f)
{
    printf("%-9s", name);
    paint(stdout, verdicts[f->verdict].colour, verdicts[f->verdict].word);
    printf("%*s%s\n", (int)(8 - strlen(verdicts[f->verdict].word)), "", f->words);
    if (*f->advice != '\0') printf("%17s%s\n", "", f->advice);
}

static void print_findings_json(tool_session *session, const finding *found)
{
    json_t *list = json_array();
    for (size_t k = 0; k < CHECKS && list != NULL; k++)
        json_array_append_new(
            list, JSON_OF({"check", json_string(checks[k].name)},
                          {"verdict", json_string(verdicts[found[k].verdict].word)},
                          {"found", json_text(found[k].words)},
                          {"advice", *found[k].advice != '\0' ? json_text(found[k].advice) : json_null()}));
    session_print(session, JSON_OF({"version", json_string(hf_version())}, {"checks", list}));
}

static hf_status run_doctor_checks(tool_session *session)
{
    machine m = {.ctx = session->ctx, .processors = sysconf(_SC_NPROCESSORS_ONLN)};
    finding found[CHECKS] = {0};
    size_t slow = 0;
    read_flags(&m);
    for (size_t k = 0; k < CHECKS; k++) {
        checks[k].look(&m, &found[k]);
        slow += found[k].verdict == SLOW ? 1 : 0;
    }
    if (session->json) {
        print_findings_json(session, found);
        return HF_OK;
    }
    printf("holdfast %s\n\n", hf_version());
    for (size_t k = 0; k < CHECKS; k++) print_finding(checks[k].name, &found[k]);
    if (slow == 0)
        puts("\nNothing slows it down.");
    else
        printf("\n%zu thing%s slow%s it down.\n", slow, plural(slow), slow == 1 ? "s" : "");
    return HF_OK;
}

const tool_verb verb_doctor = {
    .name = "doctor",
    .operands = "[OPTION]...",
    .summary = "Say what is slow on this machine, and what to do",
    .text =
        "Looks at the BLAS library (its name, and the processor that its kernels are made for), and "
        "measures\n"
        "its speed. Looks at threads (OpenMP), the vectors of the library's own loops, memory, gnuplot and\n"
        "MPI too. Each is fine, slow, or absent; where something can be done, a line says what. The exit\n"
        "status is 0 whatever is found.",
    .example = "  holdfast doctor",
    TOOL_WORK(0, 0, run_doctor_checks),
};
