/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study.h
 * @brief Internal face of the study room: what a study remembers, and the events that change it.
 *
 * A study is the sum of its events, as a track is. A public function decides, writes its events to
 * the journal, if there is one, and then applies them; applying decides nothing. Surrogates are
 * made from what was told and are not remembered; the hyperparameters and verdicts that a
 * training ended in are events, so that the next program goes on from them.
 */
#ifndef HFI_STUDY_H
#define HFI_STUDY_H

#include "core/core.h"
#include <holdfast/study.h>
#include <holdfast/train.h>
#include <holdfast/trust_region.h>

enum {
    HFI_STUDY_OBJECTIVES = 3,
    HFI_STUDY_OUTCOMES = 19, /* 3 objectives, 16 constraints */
    HFI_STUDY_REGIONS = 64
};

/** Kinds of events. Numbers and names are in files: append only. */
typedef enum hfi_study_kind {
    HFI_STUDY_ASKED = 0,    /* id: trial; of: what it repeats; values: settings, reason, mean, sd,
                            acquisition, region */
    HFI_STUDY_ADDED,        /* id: trial; values: settings, outcomes, noises; text: note */
    HFI_STUDY_TOLD,         /* id: trial; values: outcomes, noises; text: note */
    HFI_STUDY_FAILED,       /* the same */
    HFI_STUDY_EXPIRED,      /* id: trial */
    HFI_STUDY_FITTED,       /* id: outcome; of: readings; values: hfi_fitted */
    HFI_STUDY_REGION,       /* id: region; values: hfi_region */
    HFI_STUDY_LABELLED,     /* id: trial; of: outcome; values: label, correction, variance;
                            text: note */
    HFI_STUDY_ADDED_FAILED, /* as added: a past trial that failed */
    HFI_STUDY_KINDS
} hfi_study_kind;

typedef struct hfi_study_event {
    hfi_study_kind kind;
    uint64_t id, of;
    double time; /* seconds since 1970 */
    size_t count;
    const double *values;
    const char *text; /* NULL: "" */
} hfi_study_event;

/** Where events go before they happen. A study without a file has none. */
typedef struct hfi_study_journal {
    /** Hands over what others have appended, through hfi_study_replay(); with `lock`, nobody else
     * appends until `end`. NULL where nobody else can. */
    hf_status (*begin)(hf_context *ctx, void *user, hf_study *study, bool lock);
    void (*end)(void *user);
    /** All of them or none, durable on return; between begin with `lock`, and end. NULL: to look
     * only. */
    hf_status (*append)(hf_context *ctx, void *user, size_t count, const hfi_study_event *events);
    void (*close)(void *user);
    void *user;
} hfi_study_journal;

/** A trial in memory, one block. */
typedef struct hfi_trial {
    hf_trial_state state;
    hf_reason reason;
    uint64_t repeats;
    double asked, told;
    double mean, sd, acquired; /* as it was asked */
    double region;             /* that asked for it; -1: none */
    uint64_t fact;             /* number of its result among all that were told; 0: none */
    char *note;                /* a block of its own, or NULL */
    double *value, *noise;     /* outcomes each */
    double *label;             /* 3 an outcome: hf_expert_label, correction or NaN, its variance */
    double *at, *u;            /* variables each: settings, and inputs of the surrogate */
    double numbers[];
} hfi_trial;

/** Monotone change of an objective's unit: z = y above `knee`, knee - scale log1p((knee - y) /
 * scale) below it. */
typedef struct hfi_warp {
    double knee, scale; /* scale infinite: none */
} hfi_warp;

/** Result of training one outcome's surrogate. */
typedef struct hfi_fitted {
    uint64_t readings; /* that there were; 0: it was never trained */
    size_t parameters; /* of the kernel, then noise and mean */
    double *value;     /* warped units, signs turned for what is minimised */
    size_t aside;      /* trials that have no say ... */
    size_t doubted;    /* ... and after them those that are suspected only */
    double *trial;     /* their numbers */
    hfi_warp warp;
    uint64_t facts; /* results that there were */
} hfi_fitted;

/** The surrogate of one outcome. Outcome `outcomes` of a study stands for failure:
 * 1 failed, 0 told. */
typedef struct hfi_surrogate {
    hf_posterior *posterior; /* of the warped outcome over u; NULL: not made */
    uint64_t changes;        /* of the study, when it was made */
    size_t n;
    uint64_t *trial;      /* n */
    double *x, *y;        /* n x d, n: warped */
    double *noise;        /* n */
    bool *aside;          /* n */
    hf_reading *reading;  /* n */
    unsigned char *label; /* n: hf_expert_label; a doubted one that was corrected is believed */
    hfi_fitted next;      /* what it was made with */
    bool trained;         /* `next` is news for the journal */
} hfi_surrogate;

/** A trust region. */
typedef struct hfi_region {
    hf_trust_region state;
    uint64_t centre; /* trial; 0: it has none yet, and begins with a place found everywhere */
    uint64_t heard;  /* results up to this number are counted */
} hfi_region;
enum {
    HFI_REGION_NUMBERS = 7
};

struct hf_study {
    hfi_memory memory;
    hf_study_settings s; /* pointers into blocks of its own */
    char *expression;    /* kernel of the surrogates */
    hf_domain domain;    /* of u; arrays of its own */
    size_t d, outcomes, objectives;
    size_t objective[HFI_STUDY_OBJECTIVES];
    hfi_study_journal journal;
    bool journalled;

    hfi_trial **trial;
    uint64_t trials;
    size_t room;
    uint64_t changes; /* told, failed, expired, asked: whatever may change an answer */
    uint64_t facts;   /* told and failed only: whatever may change a surrogate */
    size_t pending, told, failed;
    hfi_fitted fitted[HFI_STUDY_OUTCOMES + 1];
    hfi_surrogate surrogate[HFI_STUDY_OUTCOMES + 1];
    size_t regions;
    hfi_region *region;
};

/* ---- space.c --------------------------------------------------------------------------------- */

/** HF_ERR_ARGUMENT names what is wrong with a variable. */
hf_status hfi_variables_check(hf_context *ctx, size_t count, const hf_variable *variable);
/** Settings to inputs of the surrogate, and back to the nearest settings there are. */
double hfi_variable_encode(const hf_variable *variable, double value);
double hfi_variable_decode(const hf_variable *variable, double u);
/** HF_ERR_ARGUMENT unless `value` is one that the variable may have. */
hf_status hfi_variable_admits(hf_context *ctx, const hf_variable *variable, double value);
/** Step of the lattice of inputs; 0: none. */
double hfi_variable_step(const hf_variable *variable);
/** Point `number` of the sequence that fills the space; u: d entries. */
void hfi_study_fill(const hf_study *study, uint64_t number, double *u);
/** Distance of two places as a share of the cube's diagonal; categories differ by 1. */
double hfi_study_distance(const hf_study *study, const double *a, const double *b);

/* ---- settings.c ------------------------------------------------------------------------------ */

/** Checks and copies settings, makes domain and kernel expression. */
hf_status hfi_study_take_settings(hf_context *ctx, const hf_study_settings *from, hf_study *study);
void hfi_study_free_settings(hf_study *study);
/** Releases settings whose lists and texts are blocks of their own. */
void hfi_study_settings_free(const hfi_memory *memory, hf_study_settings *settings);
/** Surrogates see an outcome times this: objectives are to be large, constraints at most a
 * limit. */
double hfi_study_sign(const hf_study *study, size_t outcome);
/** The limit of a constraint, or of failure, in the surrogate's units. */
double hfi_study_limit(const hf_study *study, size_t outcome);
bool hfi_study_is_objective(const hf_study *study, size_t outcome);

/* ---- events.c -------------------------------------------------------------------------------- */

/** The study takes over `journal` (copied); there must be none yet. */
void hfi_study_set_journal(hf_study *study, const hfi_study_journal *journal);
const hfi_study_journal *hfi_study_get_journal(const hf_study *study);
/** Takes in what others have changed; `lock`: nobody else changes it until hfi_study_leave(). */
hf_status hfi_study_enter(hf_context *ctx, hf_study *study, bool lock);
void hfi_study_leave(hf_study *study);
/** HF_ERR_ARGUMENT for a study that is open to look at only. */
hf_status hfi_study_writable(hf_context *ctx, const hf_study *study);
/** Journal first, then memory: all of the events or none and an error. Between enter and leave. */
hf_status hfi_study_commit(hf_context *ctx, hf_study *study, size_t n, const hfi_study_event *news);
/** Whether outcomes are numbers or missing, and the noises after them not negative. */
bool hfi_study_outcomes_sound(const hf_study *study, const double *values);
/** Applies an event from a journal. HF_ERR_MODEL_FILE if it cannot follow those before. */
hf_status hfi_study_replay(hf_context *ctx, hf_study *study, const hfi_study_event *event);
void hfi_fitted_free(const hfi_memory *memory, hfi_fitted *fitted);

/* ---- trials.c -------------------------------------------------------------------------------- */

/** The trial, or NULL. */
hfi_trial *hfi_study_find(const hf_study *study, uint64_t id);
/** Trial with the settings `at` that others repeat: the first one; 0 if there is none.
 * O(trials). */
uint64_t hfi_study_same(const hf_study *study, const double *at);
/** How many trials have these settings, of whatever state but failed and expired ones. */
size_t hfi_study_repeated(const hf_study *study, uint64_t id);
/** Whether it is one of those that fill the space: others crowd where the objective is large. */
bool hfi_trial_fills(const hfi_trial *trial);
/** Collects what those that fill the space have told of an outcome, as told; returns how many, at
 * most `told`. */
size_t hfi_study_filling(const hf_study *study, size_t outcome, double *y);
/** Half of the range that the middle half of the first objective's readings has, of trials that
 * fill the space: these do not crowd where it is large. */
hf_status hfi_study_spread(hf_context *ctx, const hf_study *study, double *out);

/* ---- warp.c ---------------------------------------------------------------------------------- */

hfi_warp hfi_warp_none(void);
/** The warp of n values: those far below the median are drawn nearer. Sorts y. */
hfi_warp hfi_warp_of(size_t n, double *y);
double hfi_warp_to(const hfi_warp *warp, double y);
double hfi_warp_from(const hfi_warp *warp, double z);
/** d z / d y at y. */
double hfi_warp_slope(const hfi_warp *warp, double y);
/** A surrogate's value in the user's units. */
double hfi_study_outward(const hf_study *study, size_t outcome, double z);

/* ---- surrogate.c ----------------------------------------------------------------------------- */

/** Readings of an outcome: trials that told a number of it. */
size_t hfi_study_readings(const hf_study *study, size_t outcome);
/** All that an answer needs: objectives and constraints, and failures where there are some. */
hf_status hfi_study_surrogates(hf_context *ctx, hf_study *study);
/** Events that say what was trained since the journal was written: room for outcomes + 1. Their
 * values are in *numbers, to be freed with hfi_free(). */
hf_status hfi_study_news(hf_context *ctx, const hf_study *study, hfi_study_event *news, size_t *n,
                         double **numbers);
/** The journal has them. */
void hfi_study_news_told(hf_study *study);
void hfi_surrogate_free(const hfi_memory *memory, hfi_surrogate *surrogate);

/* ---- tell.c ---------------------------------------------------------------------------------- */

/** Seconds since 1970: as given, or for NaN the clock's. */
double hfi_study_clock(double given);

/* ---- expert.c -------------------------------------------------------------------------------- */

/** A trial's reading of an outcome after an expert's word on it: value and its noise variance. */
void hfi_trial_corrected(const hf_study *study, const hfi_trial *t, size_t outcome, double *value,
                         double *noise);
/** hf_expert_label of a trial's outcome; HF_EXPERT_BELIEVED where a correction took its place. */
unsigned char hfi_trial_label(const hf_study *study, const hfi_trial *trial, size_t outcome);
/** Collects an expert's words on the readings y, units of `warp`. A reading that is NaN counts if
 * it is labelled. *out is NULL where nothing was said, unless it is `needed`. */
hf_status hfi_expert_of(hf_context *ctx, const hf_study *study, size_t outcome,
                        const hfi_surrogate *s, const double *y, const hfi_warp *warp, bool needed,
                        hf_expert **out);
/** Makes a prior mean of what an expert said of the readings y, units of `warp`. Only the labelled
 * ones count of those that are NaN. *out is NULL where nothing was said, and where that makes no
 * prior mean (hf_study_settings.expert). */
hf_status hfi_prior_mean(hf_context *ctx, const hf_study *study, size_t outcome,
                         const hfi_surrogate *s, const double *y, const hfi_warp *warp,
                         hf_expert **out);

/* ---- judge.c --------------------------------------------------------------------------------- */

/** The surrogates' verdict on a place. Objectives in surrogate units. */
typedef struct hfi_verdict_at {
    double mean[HFI_STUDY_OBJECTIVES], sd[HFI_STUDY_OBJECTIVES];
    double log_success;  /* log probability that the trial does not fail */
    double log_feasible; /* and that all constraints hold as well */
} hfi_verdict_at;
/** m places u (m x d). */
hf_status hfi_study_judge(hf_context *ctx, const hf_study *study, size_t m, const double *u,
                          hfi_verdict_at *out);
/** Whether place a is to be preferred: likely feasible ones first, then the first objective. */
bool hfi_place_better(const hfi_verdict_at *a, const hfi_verdict_at *b);
/** The incumbent: among trials that told the first objective, by posterior mean and feasibility.
 * 0: none. */
hf_status hfi_study_incumbent(hf_context *ctx, const hf_study *study, uint64_t *trial,
                              hfi_verdict_at *verdict);
/** Numbers of all trials that told something, no settings twice, and the verdicts on them; to
 * be freed. */
hf_status hfi_study_candidates(hf_context *ctx, const hf_study *study, uint64_t **trial,
                               hfi_verdict_at **place, size_t *count);

/* ---- best.c ---------------------------------------------------------------------------------- */

/** A context like `ctx` with the study's seed, and surrogates that know what others told. On
 * success to be ended by hfi_context_give_back(). */
hf_status hfi_study_begin(hf_context *ctx, hf_study *study, hf_context **own);
/** A place in the user's units. `trial` may be 0. */
void hfi_study_describe(const hf_study *study, uint64_t id, const hfi_verdict_at *at, hf_best *out);
/** Trials that nobody dominates and their posterior means (surrogates' units, objectives each);
 * room for all that told. */
hf_status hfi_study_front_of(hf_context *ctx, const hf_study *study, uint64_t *trial, double *value,
                             size_t *count);

/* ---- propose.c, doubt.c, safe.c -------------------------------------------------------------- */

/** A proposal on its way. */
typedef struct hfi_proposed {
    hf_reason reason;
    uint64_t repeats;
    double mean, sd, value;
    double region;
    double *at; /* variables */
} hfi_proposed;
/** The share of wrong readings that repetitions have shown. */
double hfi_study_wrong_share(const hf_study *study, size_t outcome, const hfi_surrogate *s);
/** Readings that agree, for this noise variance, with another one of the same settings: out[i] :=
 * true, others stay. Two wrong readings agree by chance only, so these are never set aside. */
void hfi_study_confirmed(const hf_study *study, const hfi_surrogate *s, double noise, double range,
                         bool *out);
/** The trial whose repetition decides what comes next, or 0. */
hf_status hfi_study_doubt(hf_context *ctx, const hf_study *study, uint64_t *trial);

/* ---- surrogates' fits (training.c, surrogate.c, neighbours.c) -------------------------------- */

/** Trains: hyperparameters and verdicts of the gathered readings, which it warps; s->next is
 * news. */
hf_status hfi_surrogate_train(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s);
/** The posterior with the hyperparameters and verdicts that are remembered. */
hf_status hfi_surrogate_hold(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s);
/** loo_mean and loo_var of some `readings`: what the others say of each, with its noise,
 * warped units. */
hf_status hfi_surrogate_look_at(hf_context *ctx, const hf_study *study, hfi_surrogate *s,
                                const bool *readings);
/** Readings that are far from the median of their neighbours', as deviations there go: out[i];
 * whether there are any. O(n^2 d). */
bool hfi_surrogate_contradicted(const hf_study *study, const hfi_surrogate *s, double range,
                                bool *out);
/** A surrogate of an outcome without some of its readings. It has a warp of its own and the prior
 * mean of trials that fill the space. */
hf_status hfi_surrogate_without(hf_context *ctx, const hf_study *study, size_t outcome,
                                const bool *disregarded, hf_posterior **out);

#endif
