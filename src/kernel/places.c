/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parameters of a leaf stand. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"

size_t hfi_leaf_entries(const hfi_leaf *leaf, hfi_field field)
{
    if (!hfi_form_has_field(leaf->form, field)) return 0;
    if (leaf->form == HFI_FORM_SM) return leaf->components * (field == HFI_FIELD_WEIGHT ? 1 : leaf->columns);
    if (field == HFI_FIELD_FACTOR) return hfi_coregion_factors(leaf);
    if (field == HFI_FIELD_OWN) return leaf->rank < leaf->outputs ? leaf->outputs : 0;
    return leaf->ard && field != HFI_FIELD_ALPHA ? leaf->columns : 1;
}

size_t hfi_leaf_at(const hfi_leaf *leaf, hfi_field field)
{
    hfi_field fields[HFI_MAX_LEAF_FIELDS];
    const size_t count = hfi_form_fields(leaf->form, fields);
    size_t at = leaf->first;
    for (size_t f = 0; f < count && fields[f] != field; f++) at += hfi_leaf_entries(leaf, fields[f]);
    return at;
}

size_t hfi_leaf_parameters(const hfi_leaf *leaf)
{
    hfi_field fields[HFI_MAX_LEAF_FIELDS];
    const size_t count = hfi_form_fields(leaf->form, fields);
    size_t parameters = 0;
    for (size_t f = 0; f < count; f++) parameters += hfi_leaf_entries(leaf, fields[f]);
    return parameters;
}

void hfi_leaf_place(const hfi_leaf *leaf, size_t offset, hfi_place *place)
{
    hfi_field fields[HFI_MAX_LEAF_FIELDS];
    (void)hfi_form_fields(leaf->form, fields);
    size_t f = 0;
    while (offset >= hfi_leaf_entries(leaf, fields[f])) offset -= hfi_leaf_entries(leaf, fields[f++]);
    place->field = fields[f];
    if (leaf->form == HFI_FORM_SM) {
        const bool weight = fields[f] == HFI_FIELD_WEIGHT;
        place->dimensions = weight ? 1 : 2;
        place->i = weight ? offset : offset / leaf->columns;
        place->j = weight ? 0 : offset % leaf->columns;
    } else if (fields[f] == HFI_FIELD_FACTOR) {
        place->dimensions = 2;
        place->i = hfi_coregion_row_of(leaf, offset);
        place->j = offset - hfi_coregion_row(leaf, place->i);
    } else {
        const bool array = leaf->ard || fields[f] == HFI_FIELD_OWN;
        place->dimensions = array && fields[f] != HFI_FIELD_ALPHA ? 1 : 0;
        place->i = offset;
        place->j = 0;
    }
}

size_t hfi_leaf_index(const hfi_leaf *leaf, hfi_field field, size_t i, size_t j)
{
    if (field == HFI_FIELD_FACTOR) return hfi_coregion_row(leaf, i) + j;
    const bool one_row = leaf->form != HFI_FORM_SM || field == HFI_FIELD_WEIGHT;
    return i * (one_row ? 1 : leaf->columns) + j;
}
