/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tool.h
 * @brief Shared by the verbs: their tables of options, parsed arguments, a session with a context.
 *
 * A verb is one row of `verbs` (verbs.c) with a table of options. That table is what is parsed,
 * what --help prints, and what tests/tool compares the man pages and the completion with.
 */
#ifndef HF_TOOL_H
#define HF_TOOL_H

#include <holdfast/holdfast.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    TOOL_OK = 0,
    TOOL_FAILED = 1, /* bad input, or something went wrong with good input */
    TOOL_USAGE = 2
};

/* ---- arrays (arrays.c) ----------------------------------------------------------------------- */

/** Frees `count` blocks; TOOL_FREE(a, b, ...) counts them. */
void free_list(size_t count, void *const *block);
#define TOOL_FREE(...)                                                                             \
    free_list(sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})
/** For qsort(): numbers, the least first. */
int by_size(const void *a, const void *b);
/** A number, and what it is of. */
typedef struct ranked {
    double value;
    size_t index;
} ranked;
/** For qsort(): the largest first, equal ones in the order of what they are of. */
int largest_first(const void *a, const void *b);

/* ---- options (option_list.c, options.c) ------------------------------------------------------ */

/** Traits of an option. */
typedef enum tool_trait {
    TOOL_REPEATS = 1, /* may be given more than once */
    TOOL_READS =
        /* names a file that the verb reads; with TOOL_REPEATS a list of them, or of something
         * else */
        2,
    TOOL_WRITES = 4, /* names a file that the verb writes */
    TOOL_TELLS = 8   /* changes what is told, or how fast, and no digit of what is computed */
} tool_trait;

enum {
    TOOL_DERIVED = 4 /* files at most that a verb writes without an option that names them */
};

typedef struct tool_option {
    const char *name;     /* without the dashes */
    char letter;          /* short form, or 0 */
    const char *argument; /* what to call it in help; NULL: a switch */
    const char *help;     /* newlines break lines */
    unsigned traits;      /* of tool_trait; false is none of them, true is TOOL_REPEATS */
} tool_option;

/** A row that stands for all options of settings of a group (NULL: of all) of the verb's table of
 * that index. */
#define TOOL_SETTINGS(index, group)                                                                \
    {                                                                                              \
        NULL, 0, (group), NULL, (index)                                                            \
    }

/** hf_fit_settings_table() and its like. */
typedef const hf_settings_table *tool_table(void);

struct tool_arguments;
struct tool_session;
struct certified;
struct studied;
struct tracked;

typedef struct tool_verb {
    const char *name;
    const char *operands; /* as in the synopsis */
    const char *summary;  /* one line */
    const char *text;     /* a paragraph, may be NULL */
    const char *example;  /* commands that work as printed in the root of the source */
    const tool_option *options;
    size_t option_count;
    /* tables of settings, for the rows TOOL_SETTINGS among the options; or NULL */
    tool_table *const *settings;
    /* letters and traits of some of their options, up to one without a name; or NULL */
    const tool_option *traits;
    size_t least,
        /* operands, files that are read; SIZE_MAX: everything from the first operand on is handed
         * over as it is */
        most;
    bool extends; /* what -o names holds all of the second operand, and may take its place */
    bool changes; /* the first operand is a file that the verb makes or changes in place */
    size_t (*derives)(
        const struct tool_arguments *arguments,
        char *out
            /* files that are written and that no option names, to be freed, NULL when out of
             * memory; how many. Or NULL */
            [TOOL_DERIVED]);
    int (*run)(const struct tool_arguments *arguments);
    /* with run = session_run: what is done in a session */
    hf_status (*work)(struct tool_session *session);
    hf_status (*certify)(struct certified *run); /* with run = certified_run: about a model */
    /* with run = studied_run, in a session about a study */
    hf_status (*study)(struct studied *run);
    /* with run = tracked_run, in one about a track */
    hf_status (*track)(struct tracked *run);
    /* verbs of this verb, or NULL; run_part() runs them */
    const struct tool_verb *const *parts;
    size_t part_count;
} tool_verb;

/** Members of a verb: its tables of settings. */
#define TOOL_TABLES(...)                                                                           \
    .settings = (tool_table *const[])                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/** All of an array of options. */
#define TOOL_OPTIONS(array) .options = (array), .option_count = sizeof(array) / sizeof *(array)
/** The same: how many operands it takes, and what runs; the second one in a session. */
#define TOOL_RUN(fewest, largest, function) .least = (fewest), .most = (largest), .run = (function)
#define TOOL_WORK(fewest, largest, function)                                                       \
    TOOL_RUN(fewest, largest, session_run), .work = (function)

typedef struct tool_given {
    const tool_option *option;
    const char *value; /* NULL for a switch */
} tool_given;

typedef struct tool_arguments {
    const tool_verb *verb;
    const char **operand;
    size_t operands;
    tool_given *list;
    size_t count;
} tool_arguments;

/** The options every verb has, after its own. */
extern const tool_option common_options[];
extern const size_t common_option_count;

/** Options of a verb, made ones among them; option_at() goes on with the common ones. */
size_t option_total(const tool_verb *verb);
const tool_option *option_at(const tool_verb *verb, size_t i);

/** Parses what follows the verb. TOOL_OK, or TOOL_USAGE after a message. Values point into argv. */
int arguments_parse(const tool_verb *verb, int argc, char **argv, tool_arguments *out);
void arguments_free(tool_arguments *arguments);
/** Value of an option, NULL if it was not given. */
const char *argument(const tool_arguments *arguments, const char *name);
bool has_argument(const tool_arguments *arguments, const char *name);
/** Numbers; false after a message. `least` <= value, nothing may follow. */
bool argument_double(const tool_arguments *arguments, const char *name, double *value);
bool argument_size(const tool_arguments *arguments, const char *name, size_t *value);
/** Whether a text names a label: by its letters or, with `numbers`, as the same finite number (1
 * and 1.0). */
bool is_label(const char *label, const char *text, bool numbers);
/** Whether a number as spreadsheets write it, with six digits, is this one. */
bool is_meant(double said, double meant);
bool argument_seed(const tool_arguments *arguments, const char *name, uint64_t *value);

/** Column names from every occurrence of an option, separated by commas; "a,b" in double quotes is
 * one name.
 */
typedef struct tool_names {
    char *text;
    const char **list;
    size_t count;
} tool_names;
bool argument_names(const tool_arguments *arguments, const char *name, tool_names *out);
/** The same of one text; false for no such list. */
bool take_names(const char *text, tool_names *out);
/** A finite number that ends before `stop`; *text moves on to it. */
bool number_until(char **text, char stop, double *value);
/** NAME=LOW:HIGH or NAME=VALUE, which is both; the name is cut off in place, at the last "=". */
bool take_side(char *text, const char **name, double *low, double *high);
void names_free(tool_names *names);
/** Numbers from every occurrence of an option, separated by commas, to be freed; none if it was not
 * given. False after a message. */
bool argument_doubles(const tool_arguments *arguments, const char *name, size_t *count,
                      double **out);

/* ---- complaints (complain.c) ----------------------------------------------------------------- */

/** "holdfast: ..." on standard error. Returns TOOL_FAILED. */
int complain(const char *format, ...) HF_PRINTF(1, 2);
int vcomplain(const char *format, va_list args) HF_PRINTF(1, 0);
/** Complains about wrong usage and points at --help. Returns TOOL_USAGE. */
int usage_error(const tool_verb *verb, const char *format, ...) HF_PRINTF(2, 3);
int vusage_error(const tool_verb *verb, const char *format, va_list args) HF_PRINTF(2, 0);

/* ---- running a verb (help.c, run.c) ---------------------------------------------------------- */

void print_help(const tool_verb *verb, FILE *out);
/** Parses the arguments of a verb and runs it, or prints its help. The exit status. */
int run_verb(const tool_verb *verb, int argc, char **argv);
/** The part of a verb that is called so, "track ask" by ask; NULL: there is none. */
const tool_verb *find_part(const tool_verb *verb, const char *name);
/** Runs the part that the first operand names; `run` of a verb that has parts. */
int run_part(const tool_arguments *arguments);

/* ---- session (session.c, progress.c) --------------------------------------------------------- */

/** An error of the tool itself is told at once and remembered in `refused`; what goes wrong in
 * the library is in a status, and told by session_close(). */
typedef struct tool_session {
    hf_context *ctx;
    bool quiet, json;
    struct progress *progress;
    const char *checkpoint; /* what a stopped verb can go on from; NULL: nothing */
    const tool_arguments *arguments;
    int refused; /* exit status of what has been complained about, or 0 */
    /* a file has what the user told: failing after that is no reason to tell it again */
    bool kept;
    const char *keeper; /* "track": what file that is */
} tool_session;

/** A context with threads, seed, progress bar and Ctrl-C as the arguments say. TOOL_OK or an exit
 * status,
 * with nothing to close. */
int session_open(const tool_arguments *arguments, tool_session *out);
/** Opens a session, does the verb's `work` in it and closes it; the exit status. */
int session_run(const tool_arguments *arguments);
/** Prints JSON, or lets the verb fail. */
void session_print(tool_session *session, json_t *value);
/** Ends a verb: frees everything, makes sure what went to standard output got there. Returns the
 * exit status
 * for `status` (after a message if it is an error): 0, 1, or 128 + signal when a signal cancelled.
 * */
int session_close(tool_session *session, hf_status status);
/** "holdfast: warning: ..." on standard error, unless -q. */
void warn(const tool_session *session, const char *format, ...) HF_PRINTF(2, 3);
/** "holdfast: ..." on standard error, unless -q: what a user may want to know before waiting. */
void note(const tool_session *session, const char *format, ...) HF_PRINTF(2, 3);
/** Shows the context's message as a warning when the status is one. Returns status. */
hf_status warn_status(const tool_session *session, hf_status status);
/** Complains, for a status that session_close() takes. */
hf_status session_refuse(tool_session *session, const char *format, ...) HF_PRINTF(2, 3);
/** The same for wrong usage: exit status 2, with a pointer at --help. */
hf_status session_misuse(tool_session *session, const char *format, ...) HF_PRINTF(2, 3);
/** Both in a run of a verb, whose session is its member of that name. */
#define REFUSE(run, ...) session_refuse(&(run)->session, __VA_ARGS__)
#define MISUSE(run, ...) session_misuse(&(run)->session, __VA_ARGS__)
/** The same after argument_double() or the like has told it. */
hf_status session_told(tool_session *session);
/** Tells an error: the library's message with words in front, as session_refuse(); HF_ERR_MEMORY,
 * HF_ERR_CANCELLED and what is no error pass. */
hf_status session_refuse_at(tool_session *session, hf_status status, const char *format, ...)
    HF_PRINTF(3, 4);
/** Tells an error as wrong usage of an option: the library's list of names; HF_ERR_MEMORY passes.
 * */
hf_status session_wrong_word(tool_session *session, const char *option, hf_status status);
/** A name that JSON can have, in UTF-8; `what` ("an input") bears it. */
hf_status session_name(tool_session *session, const char *what, const char *name);
/** Value of an option that must be a finite number; `needed`: it must be given, else *value stays.
 * */
hf_status session_number(tool_session *session, const char *option, bool needed, double *value);
/** --entries and --after of a verb that takes back entries of a journal. */
hf_status session_entries(tool_session *session, uint64_t *entries, uint64_t *after);
/** Tells of so many entries taken back from the end of `count`: each by itself, what `print` ends
 * with a newline or `json`, a new reference; where it is not `known` what they were, how many. */
void session_tell_removed(tool_session *session, bool known, uint64_t removed, size_t count,
                          void (*print)(const void *of, size_t i),
                          json_t *(*json)(const void *of, size_t i), const void *of);
/** Numbers of a column that is there. `missing`: fields may be; else every one must be a finite
 * number. Messages have file, line and column. */
hf_status session_column(tool_session *session, const hf_table *table, const char *name,
                         bool missing, const double **out);
bool table_has(const hf_table *table, const char *name);
/** A column of variances, NULL if it is not there; empty fields are said nothing about. */
hf_status session_variances(tool_session *session, const hf_table *table, const char *name,
                            const double **out);
/** One of them, 0 where nothing is said. */
double variance_at(const double *variances, size_t i);
/** The file that --output names; without it standard output, "-". */
const char *output_of(const tool_arguments *arguments);
/** Whether a path, or NULL, is that. */
bool is_standard(const char *path);
/** Refuses --json where a table goes to standard output too. */
hf_status session_check_output(tool_session *session, const char *path);
/** Options on how a table is read (table_in.c), for the list of a verb. */
#define DIALECT_OPTIONS                                                                            \
    {"decimal", 0, "MARK",                                                                         \
     "decimal mark of numbers: point or comma (default: auto, all fields of\na column "            \
     "decide; fields such as 1,234 are refused)",                                                  \
     false},                                                                                       \
        {"dates", 0, "ORDER", "03/04/2024 begins with the day or the month (default: auto)",       \
         false},                                                                                   \
        {"header", 0, "WHETHER", "yes or no: the first line has the names (default: auto)",        \
         false},                                                                                   \
        {"limits", 0, "WHAT", "a reading <20 counts as missing (default) or half: 10", false},     \
    {                                                                                              \
        "missing", 0, "A,B,...", "codes for missing values, such as -999", true                    \
    }
/** Names of these options. */
extern const char *const dialect_options[];
extern const size_t dialect_option_count;
/** Reads a table as people have them, by the options, or the model (or NULL) where none is given;
 * notes what was understood. */
hf_status read_table(tool_session *session, const char *path, const hf_model *model,
                     hf_table **out);
/** Columns of a table (table_out.c): of every `stride`th number from `from` on; of a name with
 * something after it; of all names up to NULL, one after the other in `block`. */
hf_status table_set(hf_context *ctx, hf_table *table, const char *name, const double *from,
                    size_t stride);
hf_status table_set_named(hf_context *ctx, hf_table *table, const char *name, const char *ending,
                          const double *numbers);
hf_status table_set_all(hf_context *ctx, hf_table *table, const char *const *names,
                        const double *block);
/** A table of such columns alone, as a file. */
hf_status write_columns(hf_context *ctx, const char *path, size_t rows, const char *const *names,
                        const double *block);
/** A table of few rows for people, its columns side by side; false when out of memory. */
bool print_columns(FILE *out, const hf_table *table);
/** hf_fit_columns() as a list of objects; a new reference, NULL when out of memory. */
json_t *json_described(const hf_table *table);
/** Compares all files that a command reads and writes, before any work (files.c): TOOL_OK, or an
 * exit status after a message. No other option reads or writes a file that is written, by whatever
 * name or link; it is no track and no study, nor the journal of one; and it can be
 * created, which is
 * better known before an hour of work than after. */
int files_check(const tool_arguments *arguments);
/** The first `length` bytes of a path with something after them, to be freed; NULL when out of
 * memory. */
char *with_ending(const char *path, size_t length, const char *ending);
/** Colours of words (say.c). */
typedef enum tool_colour {
    TOOL_PLAIN,
    TOOL_RED,
    TOOL_YELLOW,
    TOOL_GREEN,
    TOOL_BOLD
} tool_colour;
/** A text of ours in a colour, where `out` is a terminal that takes one and NO_COLOR is unset or
 * empty; else as it is. */
void paint(FILE *out, tool_colour colour, const char *text);
/** printf() of texts with names from files, labels or paths in them: what a terminal would obey
 * becomes '?' (say.c). */
void say(FILE *out, const char *format, ...) HF_PRINTF(2, 3);
void vsay(FILE *out, const char *format, va_list args) HF_PRINTF(2, 0);

/** A text that grows in a room of so many bytes; what does not fit is cut. */
typedef struct tool_line {
    char *text;
    size_t bytes, used;
} tool_line;
/** printf() at its end. */
void put(tool_line *line, const char *format, ...) HF_PRINTF(2, 3);
/** "s" of more or fewer than one. */
const char *plural(uint64_t count);

/** Signals: 0, or the number of the signal that asked us to stop. */
int signal_seen(void);
void signal_install(void);

/** Seconds on a monotonic clock. */
double tool_now(void);
struct progress *progress_start(hf_context *ctx, bool quiet);
/** Progress reported from now on is a part of a longer stage, `share` of it that begins at `from`.
 * NULL: stages speak for themselves again. */
void progress_part(struct progress *progress, const char *stage, double from, double share);
/** Part k of m of a stage begins, whether it will report anything or not. False when a signal asks
 * to stop. */
bool progress_step(struct progress *progress, const char *stage, size_t k, size_t m);
/** Wipes the bar; it comes back with the next report. */
void progress_clear(struct progress *progress);
void progress_stop(struct progress *progress);

/* ---- texts of any encoding (utf8.c) ---------------------------------------------------------- */

/** Bytes of the character that begins here; 0: none does. Overlong forms, surrogates and what is
 * beyond U+10FFFF are none. */
size_t utf8_character(const char *text);
/** JSON and pictures take no other text. */
bool is_utf8(const char *text);
/** The text with U+FFFD for every byte that belongs to no character, to be freed; NULL when out of
 * memory. */
char *to_utf8(const char *text);
/** The text with \xE9 for a byte E9 that belongs to no character, so that other names stay other
 * names; to be freed, NULL when out of memory. */
char *json_escaped(const char *text);
/** The same as JSON, null for NULL; a new reference. */
json_t *json_text(const char *text);

/* ---- commands (command.c) -------------------------------------------------------------------- */

/** Whether an option is part of what is computed. */
bool option_counts(const tool_option *option);
/** The arguments as a command for a shell, without options that do not count; to be freed, NULL
 * when out of memory. */
char *command_text(const tool_arguments *arguments);
/** Words, of which NULL ends the list, as a command, likewise. */
char *command_of(const char *const *words);

/* ---- amounts (speed.c) ----------------------------------------------------------------------- */

enum {
    TOOL_WORDS = 32
};

/** Floating point operations a second in an exact fit, as hf_fit_cost() counts them; takes a
 * fraction of a second. NaN if it
 * could not be measured. */
double flops_per_second(hf_context *ctx);
/** "40 seconds", "9 minutes". */
const char *time_in_words(double seconds, char words[TOOL_WORDS]);
/** "1.2 GB". */
const char *bytes_in_words(double bytes, char words[TOOL_WORDS]);

/* ---- JSON and columns (json.c, session.c) ---------------------------------------------------- */

/** A number; null for what JSON has no word for (NaN, infinity). */
json_t *json_number(double value);
/** A whole number; from 2^63 on, which only seeds reach, a text of its digits. Most that read JSON
 * would round so large a number. */
json_t *json_count(uint64_t value);
/** A member of an object; `value` is a new reference. Without a key it is left out. */
typedef struct tool_entry {
    const char *key;
    json_t *value;
} tool_entry;
/** Adds members; false when out of memory, or without an object. JSON_ADD(object, {"key", value},
 * ...) counts them. */
bool json_add(json_t *object, size_t count, const tool_entry *entries);
#define JSON_ADD(object, ...)                                                                      \
    json_add((object), sizeof((tool_entry[]){__VA_ARGS__}) / sizeof(tool_entry),                   \
             (tool_entry[]){__VA_ARGS__})
/** An object of such members; a new reference, NULL when out of memory. */
json_t *json_of(size_t count, const tool_entry *entries);
#define JSON_OF(...)                                                                               \
    json_of(sizeof((tool_entry[]){__VA_ARGS__}) / sizeof(tool_entry), (tool_entry[]){__VA_ARGS__})
/** Adds a member that is called by a name of the user's, in any encoding; false when out of
 * memory. */
bool json_add_named(json_t *object, const char *name, json_t *value);
/** Parameters of a kernel by name; a new reference. */
json_t *json_parameters(const hf_kernel *kernel);
/** Prints and releases. False after a message: there was no memory. */
bool json_print(json_t *value);

/** Numbers of a column by its name. */
hf_status table_numbers(hf_context *ctx, const hf_table *table, const char *name,
                        const double **out);
/** Numbers of a column that is known to be there. */
const double *table_column(hf_context *ctx, const hf_table *table, const char *name);

/* ---- verbs (verbs.c) ------------------------------------------------------------------------- */

extern const tool_verb *const verbs[];
extern const size_t verb_count;
/** The verb that is called so; NULL: there is none. */
const tool_verb *find_verb(const char *name);
void print_overview(FILE *out);
/** The few verbs to begin with, and where the others are told of. */
void print_beginning(FILE *out);

extern const tool_verb verb_fit, verb_predict, verb_score, verb_compare, verb_inspect, verb_export,
    verb_report, verb_plot, verb_bound, verb_norm, verb_certify, verb_extremum, verb_attack,
    verb_explain, verb_expert, verb_track, verb_study, verb_contaminate, verb_reproduce,
    verb_doctor;

#endif
