/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file export.h
 * @brief Which symbols the shared library shows to the world: those marked HF_API and no other.
 */
#ifndef HOLDFAST_EXPORT_H
#define HOLDFAST_EXPORT_H

#if defined(__GNUC__)
#define HF_API              __attribute__((visibility("default")))
#define HF_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#else
#define HF_API
#define HF_PRINTF(fmt, arg)
#endif

#ifdef __cplusplus
#define HF_BEGIN_DECLS extern "C" {
#define HF_END_DECLS   }
#else
#define HF_BEGIN_DECLS
#define HF_END_DECLS
#endif

#endif
