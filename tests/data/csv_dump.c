/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows what the library makes of CSV files, for comparison with other software. Commands on standard input,
 * one a line:
 *
 *     read PATH      columns, rows, then every name and field (row by row), and for numeric columns the
 * numbers write PATH TO  reads PATH and writes it to TO format HEX     a double (C's %a) as hf_format_double
 * writes it
 *
 * Text is answered as "length:bytes,", numbers as %a, everything on lines of its own; a refused file as
 * "error" and the message.
 */
#include <holdfast/table.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_text(const char *text)
{
    printf("%zu:%s,\n", strlen(text), text);
}

static void show(hf_context *ctx, const hf_table *table)
{
    char buffer[32];
    size_t rows = hf_table_rows(table), columns = hf_table_columns(table);
    printf("%zu %zu\n", columns, rows);
    for (size_t j = 0; j < columns; j++) show_text(hf_table_name(table, j));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) show_text(hf_table_field(table, i, j, buffer));
    for (size_t j = 0; j < columns; j++) {
        const double *numbers = NULL;
        bool numeric = hf_table_numbers(ctx, table, j, &numbers) == HF_OK;
        puts(numeric ? "numeric" : "text");
        for (size_t i = 0; numeric && i < rows; i++) printf("%a\n", numbers[i]);
    }
}

static void handle(hf_context *ctx, char *line)
{
    char *command = strtok(line, " \n"), *first = strtok(NULL, " \n"), *second = strtok(NULL, " \n");
    char buffer[32];
    hf_table *table = NULL;
    hf_status status = HF_OK;
    if (command == NULL || first == NULL) return;
    if (strcmp(command, "format") == 0) {
        puts(hf_format_double(strtod(first, NULL), buffer));
        return;
    }
    status = hf_table_read_csv(ctx, first, &table);
    if (status == HF_OK && second != NULL) status = hf_table_write_csv(ctx, table, second);
    if (status != HF_OK)
        printf("error\n%s\n", hf_context_message(ctx));
    else if (second == NULL)
        show(ctx, table);
    else
        puts("written");
    hf_table_free(table);
}

int main(void)
{
    char line[4096];
    hf_context *ctx = hf_context_create();
    if (ctx == NULL) return 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        handle(ctx, line);
        fflush(stdout);
    }
    hf_context_free(ctx);
    return 0;
}
