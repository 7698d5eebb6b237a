/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of boxes that inputs stay in: radii of their own, balls, physical limits, steps, few at once. */
#include "certify/certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct certified_room {
    hf_region region;
    double *numbers; /* least, most, step: d each */
    bool *sets;
};

/* "INPUT=VALUE" or, with `high`, "INPUT=LOW:HIGH", infinite ends among them. */
static hf_status parse_named(certified *run, const char *option, const char *text, size_t *j, double *low,
                             double *high)
{
    const char *equal = strrchr(text, '=');
    char *end = NULL;
    *j = equal != NULL ? certified_input(run, text, (size_t)(equal - text)) : run->d;
    if (equal != NULL && *j == run->d)
        return REFUSE(run, "--%s: the model has no input \"%.*s\"", option, (int)(equal - text), text);
    if (equal != NULL) *low = strtod(equal + 1, &end);
    bool right = equal != NULL && end != equal + 1 && !isnan(*low);
    if (right && high != NULL) {
        const char *second = end + 1;
        right = *end == ':';
        if (right) *high = strtod(second, &end);
        right = right && end != second && *low <= *high;
    }
    if (right && *end == '\0') return HF_OK;
    return MISUSE(run, "--%s: '%s' is not INPUT=%s", option, text, high != NULL ? "LOW:HIGH" : "NUMBER");
}

/* ---- radii of inputs ----------------------------------------------------------------------------------------- */

bool certified_named_radii(const certified *run)
{
    const char *radius = argument(run->arguments, "radius");
    return radius != NULL && strchr(radius, '=') != NULL;
}

hf_status certified_take_radii(certified *run)
{
    tool_names names = {0};
    if (!argument_names(run->arguments, "radius", &names)) return session_told(&run->session);
    double *own = calloc(run->d + 1, sizeof *own);
    hf_status status = own != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < names.count && status >= 0; k++) {
        size_t j;
        double radius = 0.0;
        status = parse_named(run, "radius", names.list[k], &j, &radius, NULL);
        if (status >= 0 && !(radius >= 0.0 && isfinite(radius)))
            status = MISUSE(run, "--radius: %g is not a number from 0 on", radius);
        if (status >= 0) own[j] = radius;
    }
    for (size_t j = 0; j < run->d && status >= 0; j++) run->unit[j] *= own[j];
    free(own);
    names_free(&names);
    return status;
}

/* ---- regions ------------------------------------------------------------------------------------------------- */

static const char *const options[] = {"ball", "within", "step", "at-most", "group", "patch"};

bool certified_asks_region(const certified *run)
{
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (has_argument(run->arguments, options[k])) return true;
    return certified_moves_category(run);
}

static hf_status take_shape(certified *run, hf_region *region)
{
    const char *name = argument(run->arguments, "ball");
    if (name == NULL) return HF_OK;
    for (int k = 0; k <= (int)HF_SHAPE_L1; k++) {
        region->shape = (hf_shape)k;
        if (strcmp(hf_enum_name(HF_ENUM_SHAPE, region->shape), name) == 0) return HF_OK;
    }
    return MISUSE(run, "--ball: there is no '%s'; give box, l2 or l1", name);
}

/* --within and --step. */
static hf_status take_numbers(certified *run, struct certified_room *room)
{
    double *least = room->numbers, *most = least + run->d, *step = most + run->d;
    tool_names within = {0}, steps = {0};
    if (!argument_names(run->arguments, "within", &within)) return session_told(&run->session);
    if (!argument_names(run->arguments, "step", &steps)) {
        names_free(&within);
        return session_told(&run->session);
    }
    hf_status status = HF_OK;
    size_t j;
    for (size_t k = 0; k < run->d; k++) {
        least[k] = -(double)INFINITY;
        most[k] = (double)INFINITY;
    }
    for (size_t k = 0; k < within.count && status >= 0; k++) {
        double low = 0.0, high = 0.0;
        status = parse_named(run, "within", within.list[k], &j, &low, &high);
        if (status < 0) break;
        least[j] = low;
        most[j] = high;
    }
    for (size_t k = 0; k < steps.count && status >= 0; k++) {
        double stride = 0.0;
        status = parse_named(run, "step", steps.list[k], &j, &stride, NULL);
        if (status >= 0 && !(stride > 0.0 && isfinite(stride)))
            status = MISUSE(run, "--step: %g is not above 0", stride);
        if (status >= 0) step[j] = stride;
    }
    const bool texts = certified_moves_category(run);
    for (size_t k = 0; k < run->d; k++) {
        if (!certified_is_category(run, k)) continue;
        least[k] = fmax(least[k], 0.0);
        most[k] = fmin(most[k], 1.0);
        step[k] = 1.0;
    }
    if (within.count > 0 || texts) room->region.least = least, room->region.most = most;
    if (steps.count > 0 || texts) room->region.step = step;
    names_free(&within);
    names_free(&steps);
    return status;
}

static bool *add_sets(certified *run, struct certified_room *room, size_t count)
{
    room->sets = calloc(count * run->d + 1, sizeof *room->sets);
    room->region.sets = room->sets;
    room->region.set_count = count;
    return room->sets;
}

/* One set of inputs for each --group. */
static hf_status take_groups(certified *run, struct certified_room *room)
{
    const tool_arguments *a = run->arguments;
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) count += strcmp(a->list[i].option->name, "group") == 0;
    bool *set = add_sets(run, room, count);
    hf_status status = set != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < a->count && status >= 0; i++) {
        tool_names names = {0};
        if (strcmp(a->list[i].option->name, "group") != 0) continue;
        if (!take_names(a->list[i].value, &names))
            return MISUSE(run, "--group: '%s' is no list of inputs", a->list[i].value);
        for (size_t k = 0; k < names.count && status >= 0; k++) {
            if (!certified_select(run, names.list[k], set))
                status = REFUSE(run, "--group: the model has no input \"%s\"", names.list[k]);
        }
        names_free(&names);
        set += run->d;
    }
    return status;
}

/* A number of at most five digits and the sign after it. */
static bool take_pixels(const char **text, char sign, size_t *out)
{
    const size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 5 || (*text)[digits] != sign) return false;
    *out = strtoul(*text, NULL, 10);
    *text += digits + 1;
    return true;
}

/* Every window of a picture whose pixels are the inputs, row by row. */
static hf_status take_patches(certified *run, struct certified_room *room)
{
    const char *text = argument(run->arguments, "patch"), *rest = text;
    size_t rows, columns, high, wide;
    if (!take_pixels(&rest, 'x', &rows) || !take_pixels(&rest, '@', &columns) ||
        !take_pixels(&rest, 'x', &high) || !take_pixels(&rest, '\0', &wide) || rows == 0 || columns == 0 ||
        rows > high || columns > wide)
        return MISUSE(run, "--patch: '%s' is not ROWSxCOLUMNS@ROWSxCOLUMNS, such as 2x2@28x28", text);
    if (high * wide != run->d)
        return REFUSE(run, "--patch: %zux%zu are %zu pixels, and the model has %zu inputs", high, wide,
                      high * wide, run->d);
    const size_t across = wide - columns + 1, count = (high - rows + 1) * across;
    bool *set = add_sets(run, room, count);
    if (set == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < count; k++, set += run->d)
        for (size_t pixel = 0; pixel < rows * columns; pixel++)
            set[(k / across + pixel / columns) * wide + k % across + pixel % columns] = true;
    return HF_OK;
}

/* --at-most, --group and --patch, of which one may be given. */
static hf_status take_parts(certified *run, struct certified_room *room)
{
    const tool_arguments *a = run->arguments;
    const bool few = has_argument(a, "at-most"), group = has_argument(a, "group"),
               patch = has_argument(a, "patch");
    if (few + group + patch > 1) return MISUSE(run, "--at-most, --group and --patch exclude each other");
    if (few && !argument_size(a, "at-most", &room->region.moves)) return session_told(&run->session);
    if (few && room->region.moves == 0) return MISUSE(run, "--at-most: give a number from 1 on");
    return group ? take_groups(run, room) : patch ? take_patches(run, room) : HF_OK;
}

hf_status certified_region(certified *run, const hf_region **out)
{
    *out = NULL;
    if (!certified_asks_region(run)) return HF_OK;
    struct certified_room *room = calloc(1, sizeof *room);
    run->room = room;
    if (room == NULL) return HF_ERR_MEMORY;
    room->region = hf_region_default();
    room->numbers = calloc(3 * run->d + 1, sizeof *room->numbers);
    if (room->numbers == NULL) return HF_ERR_MEMORY;
    hf_status status = take_shape(run, &room->region);
    if (status >= 0) status = take_numbers(run, room);
    if (status >= 0) status = take_parts(run, room);
    *out = &room->region;
    return status;
}

hf_status certified_place_region(certified *run)
{
    if (run->room == NULL) return HF_OK;
    hf_region *region = &run->room->region;
    region->centre = run->x;
    for (size_t k = 0; region->least != NULL && k < run->m * run->d; k++) {
        const size_t j = k % run->d;
        if (!(run->x[k] >= region->least[j]) || !(run->x[k] <= region->most[j]))
            return REFUSE(run, "--within: row %zu: \"%s\" is %g, and not within %g and %g",
                          k / run->d / run->radii + 1, hf_model_feature(run->model, j), run->x[k],
                          region->least[j], region->most[j]);
        /* The box of a ball says how long its half-axes are. */
        if (region->shape != HF_SHAPE_BOX) continue;
        run->lower[k] = fmax(run->lower[k], region->least[j]);
        run->upper[k] = fmin(run->upper[k], region->most[j]);
    }
    return HF_OK;
}

void certified_free_region(certified *run)
{
    if (run->room == NULL) return;
    TOOL_FREE(run->room->numbers, run->room->sets, run->room);
}

json_t *certified_json_region(const certified *run)
{
    if (run->room == NULL) return json_null();
    const hf_region *region = &run->room->region;
    return JSON_OF({"ball", json_string(hf_enum_name(HF_ENUM_SHAPE, region->shape))},
                   {"at_most", region->moves > 0 ? json_count(region->moves) : json_null()},
                   {"sets", region->set_count > 0 ? json_count(region->set_count) : json_null()},
                   {"limits", json_boolean(region->least != NULL)},
                   {"steps", json_boolean(region->step != NULL)});
}
