/* SPDX-License-Identifier: Apache-2.0 */
#include "common/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OPTIONS_MOST = 31,
    HELP_COLUMN = 20
};

option_row option_text(const char *name, const char *value, const char *help, const char **text)
{
    return (option_row){.name = name, .value = value, .help = help, .text = text};
}

option_row option_list(const char *name, const char *value, const char *help, words *list, const char *usual,
                       bool (*known)(const char *))
{
    if (usual) words_parse(list, name, usual, known, NULL);
    return (option_row){.name = name, .value = value, .help = help, .list = list, .known = known};
}

option_row option_choice(const char *name, const char *value, const char *help, words *list,
                         const char *usual, const char *choices)
{
    if (usual) words_parse(list, name, usual, NULL, choices);
    return (option_row){.name = name, .value = value, .help = help, .list = list, .choices = choices};
}

option_row option_number(const char *name, const char *value, const char *help, long *number, long least,
                         long most)
{
    return (option_row){
        .name = name, .value = value, .help = help, .number = number, .least = least, .most = most};
}

option_row option_range(const char *name, const char *help, long *first, long *last)
{
    return (option_row){.name = name, .value = "A..B", .help = help, .first = first, .last = last};
}

option_row option_flag(const char *name, const char *help, bool *flag)
{
    return (option_row){.name = name, .help = help, .flag = flag};
}

static void print_help(FILE *out, const char *heading, const char *example, size_t count,
                       const option_row *rows)
{
    fputs(heading, out);
    fputc('\n', out);
    for (size_t i = 0; i < count; ++i) {
        int width = fprintf(out, "  --%s%s%s", rows[i].name, rows[i].value ? " " : "",
                            rows[i].value ? rows[i].value : "");
        fprintf(out, "%*s", width < HELP_COLUMN ? HELP_COLUMN - width : 2, "");
        for (const char *c = rows[i].help; *c; ++c) {
            fputc(*c, out);
            if (*c == '\n') fprintf(out, "%*s", HELP_COLUMN, "");
        }
        fputc('\n', out);
    }
    fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, "--help", "this text");
    if (example) fprintf(out, "\nExample: %s\n", example);
}

static void take(const option_row *row, const char *value)
{
    if (row->text) *row->text = value;
    if (row->list) words_parse(row->list, row->name, value, row->known, row->choices);
    if (row->number) *row->number = words_number(row->name, value, row->least, row->most);
    if (row->first) words_range(row->name, value, row->first, row->last);
    if (row->flag) *row->flag = true;
    if (row->given) *row->given = true;
}

void options_read(int argc, char **argv, const char *heading, const char *example, size_t count,
                  const option_row *rows)
{
    struct option names[OPTIONS_MOST + 2] = {{0}};
    int which;
    if (count > OPTIONS_MOST) abort();
    for (size_t i = 0; i < count; ++i)
        names[i] = (struct option){rows[i].name, rows[i].value ? 1 : 0, NULL, (int)i};
    names[count] = (struct option){"help", 0, NULL, (int)count};
    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (which == (int)count) {
            print_help(stdout, heading, example, count, rows);
            exit(0);
        }
        if (which < 0 || which > (int)count) { /* '?' is beyond all options */
            print_help(stderr, heading, example, count, rows);
            exit(2);
        }
        take(&rows[which], optarg);
    }
    if (optind < argc) {
        fprintf(stderr, "\"%s\" is no option\n", argv[optind]);
        print_help(stderr, heading, example, count, rows);
        exit(2);
    }
}
