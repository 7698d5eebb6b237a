/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an exported file: names and endings put in, numbers, tables. */
#include "core/settings_rows.h"
#include "export/export_c.h"

#include <float.h>
#include <holdfast/version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETTINGS hf_export_settings
static const hfi_setting rows[] = {
    {TEXT(name), .usual = "predict"},
    {FLAG(single)},
    {FLAG(compact), CLASHES(REFUSED(mean_only, ON))},
    {FLAG(mean_only)},
};
SETTINGS_TABLE(hf_export_settings, "an export", rows)

enum {
    LINE = 100
};

/* ---- the file ------------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > HFI_EXPORT_NAME || !is_letter(name[0])) return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9')) return false;
    return true;
}

/* Words of C and what <math.h>, <stdint.h> and <stdio.h> have, whether a file uses it or not. */
static const char reserved[] =
    " auto break case char const continue default do double else enum extern float for goto if inline "
    "int long register restrict return short signed sizeof static struct switch typedef union "
    "unsigned void volatile while INFINITY NAN FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL "
    "FP_SUBNORMAL FP_ZERO MATH_ERREXCEPT MATH_ERRNO math_errhandling double_t float_t fpclassify "
    "isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal "
    "isunordered signbit PTRDIFF_MAX PTRDIFF_MIN SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIZE_MAX WCHAR_MAX "
    "WCHAR_MIN WINT_MAX WINT_MIN BUFSIZ EOF FILE FILENAME_MAX FOPEN_MAX L_tmpnam NULL SEEK_CUR "
    "SEEK_END SEEK_SET TMP_MAX clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fpos_t "
    "fprintf fputc fputs fread freopen fscanf fseek fsetpos ftell fwrite getc getchar gets perror "
    "printf putc putchar puts remove rename rewind scanf setbuf setvbuf size_t snprintf sprintf "
    "sscanf stderr stdin stdout tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf "
    "vsprintf vsscanf ";

/* Words of later C, and names that compilers and these headers have beside those of C99: POSIX, glibc, newlib. */
static const char extended[] =
    " alignas alignof asm bool constexpr false nullptr static_assert thread_local true typeof "
    "typeof_unqual i386 linux unix FP_INT_DOWNWARD FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO "
    "FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN MAXFLOAT M_3PI_4 M_INVLN2 M_IVLN10 M_LN2HI "
    "M_LN2LO M_LOG2_E M_SQRT3 M_SQRTPI M_TWOPI daddl ddivl dfmal dmull dsqrtl dsubl gamma_r gammaf_r "
    "iscanonical iseqsig issignaling issubnormal iszero lgamma_r lgammaf_r lgammal_r signgam "
    "PTRDIFF_WIDTH SIG_ATOMIC_WIDTH SIZE_WIDTH WCHAR_WIDTH WINT_WIDTH L_ctermid P_tmpdir "
    "clearerr_unlocked ctermid dprintf fdopen feof_unlocked ferror_unlocked fflush_unlocked "
    "fgetc_unlocked fileno fileno_unlocked flockfile fmemopen fputc_unlocked fread_unlocked fseeko "
    "ftello ftrylockfile funlockfile fwrite_unlocked getc_unlocked getchar_unlocked getdelim getline "
    "getw off_t offsetof open_memstream pclose popen putc_unlocked putchar_unlocked putw renameat "
    "setbuffer setlinebuf ssize_t tempnam tmpnam_r va_arg va_copy va_end va_list va_start vdprintf ";

/* Names of <math.h> that it also has with F or f and L or l at their end. */
static const char with_twins[] =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs "
    "fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 "
    "logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round "
    "scalbln scalbn sin sinh sqrt tan tanh tgamma trunc HUGE_VAL FP_FAST_FMA canonicalize drem exp10 "
    "fadd fdiv ffma finite fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag fminimum "
    "fminimum_mag fminimum_mag_num fminimum_num fminmag fmul fromfp fromfpx fsqrt fsub gamma "
    "getpayload infinity j0 j1 jn llogb nextdown nextup pow10 roundeven scalb setpayload "
    "setpayloadsig significand sincos totalorder totalordermag ufromfp ufromfpx y0 y1 yn acospi "
    "asinpi atan2pi atanpi compoundn cospi exp10m1 exp2m1 log10p1 log2p1 logp1 pown powr rootn rsqrt "
    "sinpi tanpi isinf isnan M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI "
    "M_2_SQRTPI M_SQRT2 M_SQRT1_2 SNAN ";

static bool is_among(const char *words, const char *name, size_t length)
{
    char word[HFI_EXPORT_NAME + 3];
    hfi_print(word, sizeof word, " %.*s ", (int)length, name);
    return strstr(words, word) != NULL;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t bytes = strlen(end);
    return length > bytes && strcmp(name + length - bytes, end) == 0;
}

/* Types and limits of <stdint.h>, by the rule that reserves them. */
static bool is_integer(const char *name, size_t length)
{
    const char *rest = name + (name[0] == 'u' || name[0] == 'U');
    const bool type = strncmp(rest, "int", 3) == 0, limit = strncmp(rest, "INT", 3) == 0;
    return (type && ends_with(name, length, "_t")) ||
           (limit && (ends_with(name, length, "_C") || ends_with(name, length, "_MAX") ||
                      ends_with(name, length, "_MIN") || ends_with(name, length, "_WIDTH")));
}

/* Names that are not free in any file; look_for_name() finds what one has. */
static bool is_reserved(const char *name)
{
    const size_t length = strlen(name);
    const char last = name[length - 1];
    return (name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'))) ||
           is_among(reserved, name, length) || is_among(extended, name, length) ||
           is_among(with_twins, name, length) ||
           (strchr("flFL", last) != NULL && is_among(with_twins, name, length - 1)) ||
           is_integer(name, length);
}

static hf_status refuse_name(hf_context *ctx, const char *name)
{
    return hfi_refuse(
        ctx,
        "the name \"%s\" cannot be that of the function; give a C identifier of at most %d letters "
        "that the file has for nothing else",
        name, (int)HFI_EXPORT_NAME);
}

hf_status hfi_emit_begin(hf_context *ctx, const hf_export_settings *s, hfi_emitter *e)
{
    const char *name = s->name != NULL ? s->name : "predict";
    if (!is_name(name) || is_reserved(name)) return refuse_name(ctx, name);
    *e = (hfi_emitter){.ctx = ctx,
                       .name = name,
                       .single = s->single || s->compact,
                       .compact = s->compact,
                       .mean_only = s->mean_only,
                       .names_only = true};
    return HF_OK;
}

hf_status hfi_emit_to(hfi_emitter *e, const char *path)
{
    e->names_only = false;
    e->bytes = e->column = 0;
    e->within = '\0';
    return hfi_file_begin(e->ctx, path, &e->file);
}

hf_status hfi_emit_end(hfi_emitter *e)
{
    if (e->status >= 0) e->status = hfi_file_commit(e->ctx, &e->file);
    hfi_file_abort(&e->file);
    hfi_free(e->ctx, e->split.t);
    return e->status;
}

double *hfi_emit_room(hfi_emitter *e, size_t count)
{
    double *room = hfi_alloc(e->ctx, count, sizeof *room);
    if (room == NULL) e->status = HF_ERR_MEMORY;
    return room;
}

static void put_file_text(hfi_emitter *e, const char *text, size_t length)
{
    if (e->status >= 0 && !e->names_only && length > 0)
        e->status = hfi_file_write(e->ctx, &e->file, text, length);
}

/* Whether a table's numbers are looked at. */
static bool takes_numbers(const hfi_emitter *e)
{
    return e->status >= 0 && !e->names_only;
}

/* Refuses a name that the code has as a word of its own; in comments and in quotes any may stand. */
static void look_for_name(hfi_emitter *e, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_`";
    const size_t length = strlen(e->name);
    while (*text != '\0') {
        const size_t word = strspn(text, letters);
        const char within = e->within;
        if (within == '\0' && word == length && strncmp(text, e->name, word) == 0 && e->status >= 0)
            e->status = refuse_name(e->ctx, e->name);
        if (within != '*' && *text == '"') e->within = within == '"' ? '\0' : '"';
        if (within == '\0' && strncmp(text, "/*", 2) == 0) e->within = '*';
        if (within == '*' && strncmp(text, "*/", 2) == 0) e->within = '\0';
        text += word > 0 ? word : 1;
    }
}

/* Puts in the public name. */
static void put_template(hfi_emitter *e, const char *text)
{
    look_for_name(e, text);
    while (*text != '\0') {
        const size_t plain = strcspn(text, "`");
        put_file_text(e, text, plain);
        text += plain;
        if (*text == '`') put_file_text(e, e->name, strlen(e->name));
        text += *text != '\0';
    }
}

void hfi_emit(hfi_emitter *e, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    const int length = hfi_print_list(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text) {
        if (e->status >= 0) e->status = hfi_refuse(e->ctx, "a line of the exported file is too long");
        return;
    }
    put_template(e, text);
}

void hfi_emit_words(hfi_emitter *e, const char *text)
{
    for (const char *c = text != NULL ? text : ""; *c != '\0'; c++) {
        const bool plain = (unsigned char)*c >= ' ' && *c != '*' && *c != '\\' && *c != '?' && *c != 0x7f;
        put_file_text(e, plain ? c : "_", 1);
    }
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

static void number(hfi_emitter *e, double value, bool narrow, char text[48])
{
    if (!(fabs(value) <= (narrow ? (double)FLT_MAX : DBL_MAX))) {
        if (e->status >= 0)
            e->status =
                hfi_fail(e->ctx, HF_ERR_NOT_FINITE, "%g is %s %s%s", value,
                         isnan(value) ? "no number for" : "too large for", narrow ? "a float" : "a double",
                         e->single ? "; export in double precision" : "");
        value = 0.0;
    }
    if (narrow && fabs(value) < (double)FLT_MIN) value = 0.0;
    const int length = hfi_print(text, 40, narrow ? "%.9g" : "%.17g", value);
    const bool whole = strcspn(text, ".e") == (size_t)length;
    hfi_print(text + length, 8, "%s%s", whole ? ".0" : "", narrow ? "F" : "");
}

void hfi_emit_number(hfi_emitter *e, double value)
{
    char text[48];
    number(e, value, false, text);
    put_file_text(e, text, strlen(text));
}

void hfi_emit_real(hfi_emitter *e, double value)
{
    char text[48];
    number(e, value, e->single, text);
    put_file_text(e, text, strlen(text));
}

void hfi_emit_float_entry(hfi_emitter *e, double value, bool last)
{
    char text[48];
    number(e, value, true, text);
    hfi_emit_entry(e, text, last);
}

/* An entry of a table: lines are filled. */
void hfi_emit_entry(hfi_emitter *e, const char *text, bool last)
{
    const size_t length = strlen(text) + 2;
    if (e->column + length > LINE) {
        put_file_text(e, "\n    ", 5);
        e->column = 4;
    } else if (e->column > 4) {
        put_file_text(e, " ", 1);
    }
    put_file_text(e, text, strlen(text));
    if (!last) put_file_text(e, ",", 1);
    e->column += length;
}

void hfi_emit_open(hfi_emitter *e, const char *type, const char *name, size_t count)
{
    hfi_emit(e, "static const %s %s[%zu] = {\n    ", type, name, count > 0 ? count : (size_t)1);
    e->column = 4;
    if (count == 0) hfi_emit_entry(e, "0", true);
}

void hfi_emit_close(hfi_emitter *e, size_t bytes)
{
    hfi_emit(e, "};\n");
    e->bytes += bytes;
}

void hfi_emit_table(hfi_emitter *e, const char *name, size_t count, const double *values, size_t stride)
{
    char text[48];
    hfi_emit_open(e, "double", name, count);
    for (size_t i = 0; i < count && takes_numbers(e); i++) {
        number(e, values[i * stride], false, text);
        hfi_emit_entry(e, text, i + 1 == count);
    }
    hfi_emit_close(e, count * sizeof(double));
}

void hfi_emit_scales(hfi_emitter *e, const char *name, size_t count, const double *values)
{
    for (size_t i = 0; i < count && e->single && e->status >= 0; i++)
        if (values[i] < (double)FLT_MIN || values[i] > (double)FLT_MAX)
            e->status = hfi_fail(e->ctx, HF_ERR_NOT_FINITE,
                                 "the scale %g is beyond what a float can have; export in double precision",
                                 values[i]);
    hfi_emit_table(e, name, count, values, 1);
}

void hfi_emit_counts(hfi_emitter *e, const char *type, size_t size, const char *name, size_t count,
                     const size_t *values)
{
    char text[48];
    hfi_emit_open(e, type, name, count);
    for (size_t i = 0; i < count && takes_numbers(e); i++) {
        hfi_print(text, sizeof text, "%zu", values[i]);
        hfi_emit_entry(e, text, i + 1 == count);
    }
    hfi_emit_close(e, count * size);
}

/* ---- triangles ------------------------------------------------------------------------------------------ */

void hfi_emit_diagonal(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld)
{
    char title[80];
    double *work = hfi_emit_room(e, n);
    if (work == NULL) return;
    for (size_t i = 0; i < n && takes_numbers(e); i++) work[i] = 1.0 / l[i + i * ld];
    hfi_print(title, sizeof title, "%s_inverse", name);
    hfi_emit_table(e, title, n, work, 1);
    hfi_free(e->ctx, work);
}

void hfi_emit_triangle(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld)
{
    char text[48];
    const size_t entries = n * (n - (n > 0)) / 2;
    hfi_emit_open(e, "double", name, entries);
    for (size_t i = 0; i < n && takes_numbers(e); i++)
        for (size_t j = 0; j < i; j++) {
            number(e, l[i + j * ld], false, text);
            hfi_emit_entry(e, text, i + 1 == n && j + 1 == i);
        }
    hfi_emit_close(e, entries * sizeof(double));
}

void hfi_emit_sums(hfi_emitter *e, const char *type, const char *zero)
{
    for (unsigned k = 0; k < 4; k++) hfi_emit(e, "        %s s%u = %s;\n", type, k, zero);
}

void hfi_emit_solve(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld)
{
    hfi_emit_triangle(e, name, n, l, ld);
    hfi_emit_diagonal(e, name, n, l, ld);
    hfi_emit(e,
             "\n/* L v = v, row by row; four sums, so that one does not wait for the other. */\n"
             "static void solve_%s(double v[%zu])\n{\n    unsigned long at = 0UL;\n    unsigned i;\n"
             "    for (i = 0U; i < %zuU; i++) {\n        const double *row = &%s[at];\n",
             name, n, n, name);
    hfi_emit_sums(e, "double", "0.0");
    hfi_emit(e, "        unsigned j = 0U;\n"
                "        for (; (j + 3U) < i; j += 4U) {\n");
    for (unsigned k = 0; k < 4; k++) hfi_emit(e, "            s%u += row[j + %uU] * v[j + %uU];\n", k, k, k);
    hfi_emit(e, "        }\n        for (; j < i; j++) {\n            s0 += row[j] * v[j];\n        }\n");
    hfi_emit(e,
             "        v[i] = (v[i] - ((s0 + s1) + (s2 + s3))) * %s_inverse[i];\n        at += i;\n    }\n}\n",
             name);
}

/* ---- the first lines ------------------------------------------------------------------------------------ */

void hfi_emit_head(hfi_emitter *e, const char *what, const char *source, const char *checksum)
{
    hfi_emit(e, "/* %s, made by Holdfast %s. Not to be edited.\n *\n * Data: ", what, hf_version());
    hfi_emit_words(e, source);
    if (checksum != NULL) hfi_emit(e, "\n * SHA-256 of the data: %s", checksum);
    hfi_emit(
        e,
        "\n * Needs C99, <math.h>%s. Allocates nothing, does not recurse, all loops have constant bounds.\n"
        " * MISRA C:2012, as cppcheck checks it, but for two rules. 8.9 (advisory): tables stand before the\n"
        " * function that reads them, so that it can be read. 21.6: the self-test, and it alone, prints.\n"
        " * Self-test: cc -std=c99 -DHOLDFAST_SELF_TEST THIS.c -lm\n"
        " * Declarations alone: define HOLDFAST_DECLARATIONS, and include this file.\n",
        e->single ? " and <stdint.h>" : "");
}

void hfi_emit_includes(hfi_emitter *e)
{
    hfi_emit(e,
             "#ifndef HOLDFAST_DECLARATIONS\n#include <math.h>\n%s#endif\n"
             "#ifdef HOLDFAST_SELF_TEST\n#include <stdio.h>\n#endif\n\n",
             e->single ? "#include <stdint.h>\n" : "");
}

void hfi_emit_inputs(hfi_emitter *e, size_t d, const char *const *feature)
{
    hfi_emit(e, " *\n * Inputs, in the units of the data:\n");
    for (size_t j = 0; j < d; j++) {
        hfi_emit(e, " *     x[%zu]  ", j);
        hfi_emit_words(e, feature != NULL ? feature[j] : "");
        hfi_emit(e, "\n");
    }
}

void hfi_emit_scaling(hfi_emitter *e, size_t d, const hfi_scaling *scaling)
{
    hfi_emit_table(e, "input_shift", d, scaling->x_shift, 1);
    hfi_emit_scales(e, "input_scale", d, scaling->x_scale);
    hfi_emit(e,
             "\nstatic int scale_inputs(const `_real x[%zu], double scaled[%zu])\n{\n"
             "    int bad = 0;\n    unsigned j;\n    for (j = 0U; j < %zuU; j++) {\n"
             "        if (!((x[j] >= -",
             d, d, d);
    hfi_emit_real(e, e->single ? (double)FLT_MAX : DBL_MAX);
    hfi_emit(e, ") && (x[j] <= ");
    hfi_emit_real(e, e->single ? (double)FLT_MAX : DBL_MAX);
    hfi_emit(
        e,
        "))) {\n            bad = 1;\n        }\n"
        "        scaled[j] = ((double)x[j] - input_shift[j]) / input_scale[j];\n    }\n    return bad;\n}\n");
}
