/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file picture.h
 * @brief Pictures: one gnuplot script, drawn as STEM.svg and STEM.png.
 */
#ifndef EXPERIMENTS_PICTURE_H
#define EXPERIMENTS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Must not be copied: the stream knows where it stands. */
typedef struct picture {
    FILE *script; /**< write gnuplot to it, data as here-documents */
    char *text;
    size_t length;
} picture;

/** Begins a script with the style that all pictures share; ends the program when memory is out. */
void picture_begin(picture *p);
/** Writes a text as gnuplot's quoted string. */
void picture_quote(FILE *out, const char *text);
/** Draws it, width x height in pixels of the svg, and frees it. Says where; false, with a message
 * on standard error, where gnuplot is not installed or fails. */
bool picture_draw(picture *p, const char *stem, int width, int height);

#endif
