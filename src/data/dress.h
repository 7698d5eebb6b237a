/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dress.h
 * @brief Numbers as people write them: 1.234,50 and 12 % and $5 and <20.
 *
 * The sign, the digits and their marks are taken out of a field, put down as number.h reads them,
 * and read there: a number in a foreign dress has the bits that it has in the plain one.
 */
#ifndef HFI_DATA_DRESS_H
#define HFI_DATA_DRESS_H

#include "data/number.h"

enum {
    HFI_DRESS_BYTES = 256, /* no longer field is a number in a dress */
    HFI_DRESS_WORDS = 96
};

/** Things that numbers of a column wear, as bits. hfi_garments[] has their words. */
typedef enum hfi_garment {
    HFI_WEARS_COMMA = 1,  /* the decimal mark is a comma */
    HFI_WEARS_GROUPS = 2, /* thousands are separated */
    HFI_WEARS_PERCENT = 4,
    HFI_WEARS_MONEY = 8,
    HFI_WEARS_LIMITS = 16, /* some fields are limits of detection */
    HFI_WEARS_TRUTH = 32,  /* fields are TRUE and FALSE */
    HFI_GARMENTS = 6
} hfi_garment;

/** Words for garment number k, bit 1 << k: in a list ("decimal comma"), and in a remark. */
typedef struct hfi_garment_words {
    const char *brief, *remark;
} hfi_garment_words;
extern const hfi_garment_words hfi_garments[HFI_GARMENTS];

/** A field taken apart. */
typedef struct hfi_dressed {
    char body[HFI_DRESS_BYTES]; /* sign, digits, marks, exponent; every kind of blank is ' ' */
    const char *currency;       /* a row of the table of currencies, NULL for none */
    bool percent;
    char limit;                    /* '<', '>' or 0 */
    bool as_point, as_comma;       /* it is a number with that decimal mark */
    char point_group, comma_group; /* what separates thousands then; 0 for nothing */
} hfi_dressed;

/** Takes a field apart; false where it is no number in any dress. O(length), no allocation. */
bool hfi_dress_take(const char *text, hfi_dressed *out);
/** The number of such a field with the decimal mark '.' or ',', which it must allow. Without its
 * limit: <20 is 20. */
double hfi_dress_number(const hfi_dressed *field, char mark);

/** All that is known of the fields of a column, one field after the other. */
typedef struct hfi_dress_survey {
    /* dressed or plain numbers; fields that are no number */
    size_t fields, odd;
    size_t percents, moneys, limits, points, commas; /* points: fields that only the point allows */
    size_t unsure;        /* fields with another number by the point than by the comma */
    size_t unsure_commas; /* those of them that have a comma */
    size_t first_unsure;  /* number of the first of them, as the caller counts fields */
    const char *currency;
    bool mixed; /* several currencies */
} hfi_dress_survey;
void hfi_dress_look(hfi_dress_survey *survey, const char *text);
/** Whether a column may be numbers: no odd field, and percent or currency on all fields or none. */
bool hfi_dress_may_be(const hfi_dress_survey *survey);

/** TRUE and FALSE in any case; false for other texts. */
bool hfi_truth_read(const char *text, double *value);

/** "number (decimal comma, thousands)" for a set of garments. */
void hfi_dress_words(unsigned wears, char words[HFI_DRESS_WORDS]);

#endif
