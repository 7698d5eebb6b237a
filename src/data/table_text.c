/* SPDX-License-Identifier: Apache-2.0 */
/* Computed columns of text, of which there are few different ones: each is kept once. */
#include "data/table_impl.h"

#include <string.h>

/* Takes over `words` and `word`, or frees them. */
static hf_status put_word_column(hf_context *ctx, hf_table *table, const char *name, char *words,
                                 size_t *word)
{
    hfi_column *column = words != NULL && word != NULL ? hfi_table_place(table, name) : NULL;
    if (column == NULL) {
        HFI_MEMORY_FREE(&table->memory, words, word);
        return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory: a column of %zu rows could not be added",
                        table->rows);
    }
    column->words = words;
    column->word = word;
    return HF_OK;
}

/* The empty text, then all others: where text k begins goes to begin[k]. */
static char *join(const hfi_memory *memory, size_t count, const char *const *text, size_t *begin)
{
    size_t bytes = 1;
    for (size_t k = 0; k < count; k++) {
        begin[k] = bytes;
        bytes += strlen(text[k]) + 1;
    }
    char *words = hfi_memory_alloc(memory, bytes, 1);
    if (words == NULL) return NULL;
    words[0] = '\0';
    for (size_t k = 0; k < count; k++) memcpy(words + begin[k], text[k], strlen(text[k]) + 1);
    return words;
}

static hf_status check_text_column(hf_context *ctx, const hf_table *table, const char *name, size_t count,
                                   const char *const *text, const size_t *choice)
{
    if (table == NULL || name == NULL || (text == NULL && count > 0) || (choice == NULL && table->rows > 0))
        return hfi_refuse(ctx, "hf_table_set_text: table, name, text or choice is NULL");
    if (*name == '\0') return hfi_refuse(ctx, "%s: a column needs a name", table->source);
    for (size_t k = 0; k < count; k++)
        if (text[k] == NULL) return hfi_refuse(ctx, "hf_table_set_text: text %zu is NULL", k);
    for (size_t i = 0; i < table->rows; i++)
        if (choice[i] >= count && choice[i] != SIZE_MAX)
            return hfi_refuse(ctx, "hf_table_set_text: row %zu chooses text %zu of %zu", i, choice[i], count);
    return HF_OK;
}

hf_status hf_table_set_text(hf_context *ctx, hf_table *table, const char *name, size_t count,
                            const char *const *text, const size_t *choice)
{
    const hf_status status = check_text_column(ctx, table, name, count, text, choice);
    if (status < 0) return status;
    size_t *begin = hfi_alloc(ctx, count, sizeof *begin);
    if (begin == NULL) return HF_ERR_MEMORY;
    char *words = join(&table->memory, count, text, begin);
    size_t *word = hfi_memory_alloc(&table->memory, table->rows, sizeof *word);
    for (size_t i = 0; word != NULL && i < table->rows; i++)
        word[i] = choice[i] == SIZE_MAX ? 0 : begin[choice[i]];
    hfi_free(ctx, begin);
    return put_word_column(ctx, table, name, words, word);
}

hf_status hfi_table_copy_text(hf_context *ctx, const hfi_column *from, const size_t *rows, size_t count,
                              hf_table *to)
{
    size_t bytes = 1; /* where the text of a chosen row ends that lies last */
    for (size_t i = 0; i < count; i++) {
        const size_t end = from->word[rows[i]] + strlen(from->words + from->word[rows[i]]) + 1;
        if (end > bytes) bytes = end;
    }
    char *words = hfi_memory_alloc(&to->memory, bytes, 1);
    size_t *word = hfi_memory_alloc(&to->memory, count, sizeof *word);
    if (words != NULL) memcpy(words, from->words, bytes);
    for (size_t i = 0; word != NULL && i < count; i++) word[i] = from->word[rows[i]];
    return put_word_column(ctx, to, from->name, words, word);
}
