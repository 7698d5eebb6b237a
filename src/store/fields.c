/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a struct, settings among them, in and out of a statement and of the table meta. Keys and names of choices
 * are part of the formats: never rename one. */
#include "store/reader.h"
#include "store/writer.h"

/* ---- members as rows of meta ----------------------------------------------------------------- */

void hfi_writer_fields(hfi_writer *w, const hfi_file_field *fields, size_t count, const void *object)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].since <= w->version)
            hfi_writer_meta(w, fields[i].key, hfi_file_field_value(&fields[i], object));
}

hf_status hfi_meta_fields(const hfi_reader *r, const hfi_file_field *fields, size_t count, void *object)
{
    hf_status status = HF_OK;
    for (size_t i = 0; i < count && status >= 0; i++)
        if (fields[i].since <= r->version) status = hfi_meta_field(r, &fields[i], object);
    return status;
}

/* ---- settings by their tables ---------------------------------------------------------------- */

bool hfi_setting_field(const hfi_setting *row, hfi_setting_key *room, hfi_file_field *out)
{
    static const hfi_field_type types[] = {[HF_SETTING_CHOICE] = HFI_CHOICE,
                                           [HF_SETTING_FLAG] = HFI_FLAG,
                                           [HF_SETTING_COUNT] = HFI_SIZE,
                                           [HF_SETTING_NUMBER] = HFI_REAL};
    if (row->since == 0) return false;
    hfi_print(room->key, sizeof room->key, "settings.%s", row->key ? row->key : row->face.name);
    const size_t choices = hfi_setting_kept(row);
    for (size_t k = 0; k < choices; k++) room->names[k] = hf_enum_name(row->names, (unsigned)k);
    *out = (hfi_file_field){.key = room->key,
                            .type = types[row->face.type],
                            .offset = row->offset,
                            .names = room->names,
                            .choices = choices,
                            .since = row->since};
    return true;
}

void hfi_writer_settings(hfi_writer *w, const hf_settings_table *table, const void *settings)
{
    hfi_setting_key room;
    hfi_file_field field;
    for (size_t i = 0; i < table->count; i++)
        if (hfi_setting_field(&table->row[i], &room, &field)) hfi_writer_fields(w, &field, 1, settings);
}

hf_status hfi_meta_settings(const hfi_reader *r, const hf_settings_table *table, void *settings)
{
    hf_status status = HF_OK;
    hfi_setting_key room;
    hfi_file_field field;
    for (size_t i = 0; i < table->count && status >= 0; i++) {
        if (!hfi_setting_field(&table->row[i], &room, &field)) continue;
        if (!table->row[i].late || hfi_meta_has(r, field.key))
            status = hfi_meta_fields(r, &field, 1, settings);
    }
    return status;
}
