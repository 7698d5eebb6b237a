/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that ask and tell one study are killed at any moment: whatever a call returned from is in the file.
 * With an argument: so many kills, e.g. 200. */
#include "files/study_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PROGRAMS = 4,
    KILLS = 12,
    MOST_TRIALS = 1 << 16
};

static int kills = KILLS;

/* Record of an answer that a program got: it is on the disk. */
typedef struct said {
    uint64_t trial;
    double at, value; /* value NaN: it was asked only */
} said;

static void say(int to, uint64_t trial, double at, double value)
{
    const said s = {.trial = trial, .at = at, .value = value};
    if (write(to, &s, sizeof s) != sizeof s) _exit(1);
}

/* Asks and tells until it is killed; every third trial stays pending. */
static pid_t work(const char *path, int to)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) return child;
    hf_context *ctx = hf_context_create();
    hf_study *study = NULL;
    if (hf_study_file_open(ctx, path, true, &study) < 0) _exit(2);
    for (int k = 0;; k++) {
        hf_proposal p;
        hf_trial t;
        if (hf_study_ask(ctx, study, 1, NAN, &p) < 0 || hf_study_trial(ctx, study, p.trial, &t) < 0) _exit(3);
        const double at = t.at[0], y = at * (1.0 - at);
        say(to, p.trial, at, NAN);
        if (k % 3 == 2) continue;
        if (hf_study_tell(ctx, study, p.trial, &y, NULL, "told") < 0) _exit(4);
        say(to, p.trial, at, y);
    }
}

static void pause_for(long milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static void end(pid_t child)
{
    int how = 0;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL); /* none gave up by itself */
}

/* Adds what was said to what is known of each trial. No trial goes to two programs. */
static size_t listen(int from, said *known)
{
    said s;
    size_t count = 0;
    while (read(from, &s, sizeof s) == sizeof s) {
        assert_true(s.trial < MOST_TRIALS && isnan(known[s.trial].value));
        assert_true(isnan(s.value) == (known[s.trial].trial == 0));
        known[s.trial] = s;
        count++;
    }
    return count;
}

static void nothing_acknowledged_is_lost(const scene *s, const said *known)
{
    hf_study *study = study_files_open(s->ctx, s->path, false);
    size_t asked = 0, told = 0;
    for (uint64_t id = 1; id < MOST_TRIALS; id++) {
        hf_trial t;
        if (known[id].trial == 0) continue;
        if (hf_study_trial(s->ctx, study, id, &t) < 0) fail_msg("trial %d is lost", (int)id);
        assert_true(t.at[0] == known[id].at);
        asked++;
        if (isnan(known[id].value)) continue;
        assert_true(t.state == HF_TRIAL_TOLD && t.value[0] == known[id].value);
        told++;
    }
    assert_true(asked > 0 && told > 0);
    if (kills > KILLS)
        print_message("%d kills: %zu trials acknowledged as asked, %zu as told, %d in the file\n", kills,
                      asked, told, (int)hf_study_trials(study));
    hf_study_free(study);
}

/* Kills come up to so many milliseconds apart. */
static void kill_some(size_t start, uint64_t apart)
{
    scene s = scene_make();
    hf_study_settings settings = studies_settings(1, studies_plane, &studies_gain);
    hf_study *study = NULL;
    settings.start = start;
    assert_int_equal(hf_study_file_create(s.ctx, s.path, &settings, &study), HF_OK);
    hf_study_free(study);
    said *known = calloc(MOST_TRIALS, sizeof *known);
    assert_non_null(known);
    for (size_t i = 0; i < MOST_TRIALS; i++) known[i].value = NAN;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    pid_t child[PROGRAMS];
    size_t count = 0;
    uint64_t random = 12345;
    for (size_t i = 0; i < PROGRAMS; i++) child[i] = work(s.path, ends[1]);
    for (int k = 0; k < kills || count == 0; k++) {
        random = 6364136223846793005U * random + 1442695040888963407U;
        pause_for((long)((random >> 40) % apart));
        const uint64_t victim = (random >> 33) % PROGRAMS;
        end(child[victim]);
        child[victim] = work(s.path, ends[1]);
        count += listen(ends[0], known);
    }
    pause_for(100);
    for (size_t i = 0; i < PROGRAMS; i++) end(child[i]);
    (void)listen(ends[0], known);
    nothing_acknowledged_is_lost(&s, known);
    close(ends[0]);
    close(ends[1]);
    free(known);
    scene_end(&s);
}

static void kills_lose_nothing(void **state)
{
    (void)state;
    kill_some(100000, 40);
}

/* With surrogates, whose training is written too. */
static void kills_lose_nothing_of_what_is_learnt(void **state)
{
    (void)state;
    kill_some(4, 160);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kills_lose_nothing),
                                       cmocka_unit_test(kills_lose_nothing_of_what_is_learnt)};
    if (argc > 1) kills = (int)strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
