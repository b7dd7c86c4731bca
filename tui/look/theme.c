/* theme - the style of every role, from files in git-config syntax. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/theme.h"

#include <errno.h>
#include <string.h>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "tui/look/ini.h"

#define INHERIT_MAX 4

/* The three tables of a theme file: for colours in general, for 16 colours, for none. */
enum table {
	TABLE_COLOR,
	TABLE_16,
	TABLE_MONO,
	TABLE_COUNT,
};

struct look {
	bool set;
	int n_colors;
	uint32_t color[2]; /* a palette entry is PALETTE_REF + n until the theme is complete */
	uint32_t attr;
};

#define PALETTE_REF 0x10000000u

/* A theme while its files are read: parents first, children over them. */
struct draft {
	char name[32], inherits[64];
	bool dark;
	uint32_t palette[16];
	struct look looks[TABLE_COUNT][ROLE_COUNT];
};

static const struct {
	const char *section, *name;
} role_names[ROLE_COUNT] = {
#define X(id, section, name) {section, name},
	ROLES(X)
#undef X
};

static const char *const color_names[] = {"black", "red",     "green", "yellow",
					  "blue",  "magenta", "cyan",  "white"};
static const char *const attr_names[] = {"bold", "dim", "italic", "underline", "reverse", "strike"};
static const char *const attr_git[] = {"bold", "dim", "italic", "ul", "reverse", "strike"};

static bool parse_hex(const char *s, uint32_t *ret)
{
	char *end;
	unsigned long v;

	if (strlen(s) != 7 || s[1] == '-' || s[1] == '+')
		return false;
	v = strtoul(s + 1, &end, 16);
	*ret = 0x02000000u | (uint32_t)v;
	return *end == '\0';
}

static bool parse_color(const char *s, uint32_t *ret)
{
	char *end;
	unsigned long n;
	uint32_t bright = 0;

	if (str_eq(s, "default") || str_eq(s, "normal")) {
		*ret = COLOR_DEFAULT;
		return true;
	}
	if (*s == '#')
		return parse_hex(s, ret);
	if (str_starts(s, "base0") && strlen(s) == 6) {
		n = strtoul(s + 5, &end, 16);
		*ret = PALETTE_REF + (uint32_t)n;
		return *end == '\0';
	}
	if (str_starts(s, "bright")) {
		bright = 8;
		s += strlen("bright");
	}
	for (uint32_t i = 0; i < ARRAY_LEN(color_names); i++) {
		if (str_eq(s, color_names[i])) {
			*ret = COLOR_INDEX(i + bright);
			return true;
		}
	}
	n = strtoul(s, &end, 10);
	*ret = COLOR_INDEX(n);
	return !bright && *s >= '0' && *s <= '9' && *end == '\0' && n < 256;
}

/* Parses "base08 default bold": at most two colours, then attributes, in git's order and words. */
static int parse_look(struct look *look, const struct ini_line *l, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(l->value);
	char *save = NULL;

	*look = (struct look){.set = true};
	for (char *w = strtok_r(copy, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		bool found = false;

		for (size_t i = 0; i < ARRAY_LEN(attr_names) && !found; i++) {
			found = str_eq(w, attr_names[i]) || str_eq(w, attr_git[i]);
			if (found)
				look->attr |= 1u << i;
		}
		if (found)
			continue;
		if (look->n_colors == 2)
			return ini_error(err, l, "more than two colours for %s", l->name);
		if (!parse_color(w, &look->color[look->n_colors++])) {
			char safe[64];

			text_escape_into(safe, sizeof(safe), w, strlen(w));
			return ini_error(err, l, "'%s' is no colour or attribute", safe);
		}
	}
	return 0;
}

static int unknown_role(const struct ini_line *l, struct err *err)
{
	struct nearest near = nearest_to(l->name);
	bool part = false;

	for (size_t i = 0; i < ROLE_COUNT; i++) {
		if (!str_eq(role_names[i].section, l->sub))
			continue;
		part = true;
		nearest_try(&near, role_names[i].name);
	}
	if (!part)
		return ini_error(err, l, "unknown part in [%s \"%.40s\"]", l->section, l->sub);
	return ini_error(err, l, "unknown role '%.40s'%s%s%s", l->name,
			 near.best ? ": did you mean '" : "", near.best ? near.best : "",
			 near.best ? "'?" : "");
}

static int set_look(struct draft *d, enum table table, const struct ini_line *l, struct err *err)
{
	for (size_t i = 0; i < ROLE_COUNT; i++) {
		if (str_eq(role_names[i].section, l->sub) && str_eq(role_names[i].name, l->name))
			return parse_look(&d->looks[table][i], l, err);
	}
	return unknown_role(l, err);
}

static int set_palette(struct draft *d, const struct ini_line *l, struct err *err)
{
	uint32_t slot, color;

	if (!str_starts(l->name, "base0") || !parse_color(l->name, &slot))
		return ini_error(err, l, "palette names are base00 to base0f");
	if (!parse_color(l->value, &color) || color >= PALETTE_REF)
		return ini_error(err, l,
				 "'%s' wants \"#rrggbb\", 0-255, a colour's name or default",
				 l->name);
	d->palette[slot & 0xf] = color;
	return 0;
}

static int set_theme(struct draft *d, const struct ini_line *l, struct err *err)
{
	if (str_eq(l->name, "name")) {
		text_escape_into(d->name, sizeof(d->name), l->value, strlen(l->value));
	} else if (str_eq(l->name, "variant")) {
		if (!str_eq(l->value, "dark") && !str_eq(l->value, "light"))
			return ini_error(err, l, "variant is dark or light");
		d->dark = str_eq(l->value, "dark");
	} else if (str_eq(l->name, "inherits")) {
		if (strlen(l->value) >= sizeof(d->inherits) || strchr(l->value, '/'))
			return ini_error(err, l, "inherits names a theme, not a path");
		snprintf(d->inherits, sizeof(d->inherits), "%s", l->value);
	} else {
		return ini_error(err, l,
				 "unknown setting '%.40s': [theme] has name, variant, inherits",
				 l->name);
	}
	return 0;
}

static int on_line(void *data, const struct ini_line *l, struct err *err)
{
	struct draft *d = data;

	if (str_eq(l->section, "theme"))
		return set_theme(d, l, err);
	if (str_eq(l->section, "palette"))
		return set_palette(d, l, err);
	if (str_eq(l->section, "color"))
		return set_look(d, TABLE_COLOR, l, err);
	if (str_eq(l->section, "color16"))
		return set_look(d, TABLE_16, l, err);
	if (str_eq(l->section, "mono"))
		return set_look(d, TABLE_MONO, l, err);
	return ini_error(err, l, "unknown section [%.40s]", l->section);
}

/* Returns the role whose style a role without an entry has: "diff.add" for "diff.add-word", "event"
 * for "event.deny". ROLE_COUNT: text's. */
static size_t parent_of(size_t role)
{
	const char *section = role_names[role].section, *name = role_names[role].name;
	size_t n = str_ends(name, "-word") ? strlen(name) - strlen("-word") : 0;

	for (size_t i = 0; *section && i < ROLE_COUNT; i++) {
		const char *other = role_names[i].name;

		if (n ? str_eq(role_names[i].section, section) && strlen(other) == n &&
				    strncmp(other, name, n) == 0
		      : !*role_names[i].section && str_eq(other, section))
			return i;
	}
	return ROLE_COUNT;
}

/* Returns the role's own entry for this depth, else its parent's. */
static const struct look *find_look(const struct draft *d, size_t role, enum depth depth)
{
	size_t parent = parent_of(role);
	const struct look *l = &d->looks[TABLE_COLOR][role];

	if (depth == DEPTH_MONO)
		l = &d->looks[TABLE_MONO][role];
	else if (depth == DEPTH_16 && d->looks[TABLE_16][role].set)
		l = &d->looks[TABLE_16][role];
	if (l->set)
		return l;
	return parent < ROLE_COUNT ? find_look(d, parent, depth) : l;
}

static struct style resolve(const struct draft *d, const struct look *l, const struct style *base,
			    enum depth depth)
{
	struct style st = *base;

	for (int i = 0; i < l->n_colors; i++) {
		uint32_t c = l->color[i];

		if (c >= PALETTE_REF)
			c = d->palette[(c - PALETTE_REF) & 0xf];
		*(i == 0 ? &st.fg : &st.bg) = color_reduce(c, depth);
	}
	st.attr |= l->attr;
	return st;
}

static void finish(struct theme *t, const struct draft *d, enum depth depth)
{
	struct style none = {0}, text;

	snprintf(t->name, sizeof(t->name), "%s", d->name);
	t->dark = d->dark;
	text = resolve(d, find_look(d, ROLE_TEXT, depth), &none, depth);
	for (size_t i = 0; i < ROLE_COUNT; i++)
		t->roles[i] =
			resolve(d, find_look(d, i, depth), i == ROLE_TEXT ? &none : &text, depth);
}

static uint32_t blend(uint32_t a, uint32_t b, uint32_t percent)
{
	uint32_t mixed = 0;

	for (int shift = 0; shift < 24; shift += 8)
		mixed |= ((a >> shift & 0xff) * (100 - percent) + (b >> shift & 0xff) * percent) /
				 100
			 << shift;
	return 0x02000000u | mixed;
}

void theme_tint(struct theme *t, uint32_t ground)
{
	static const struct {
		enum role role;
		uint32_t color, percent;
	} tints[] = {{ROLE_DIFF_ADD, 0x2ea043, 16},
		     {ROLE_DIFF_DEL, 0xf85149, 16},
		     {ROLE_DIFF_ADD_WORD, 0x2ea043, 42},
		     {ROLE_DIFF_DEL_WORD, 0xf85149, 42}};

	for (size_t i = 0; i < ARRAY_LEN(tints); i++) {
		struct style *st = &t->roles[tints[i].role];

		if (!COLOR_IS_RGB(ground) || st->bg != COLOR_DEFAULT)
			continue;
		st->bg = blend(ground, tints[i].color, tints[i].percent);
		st->attr &= ~(uint32_t)STYLE_REVERSE;
	}
}

/* Collects the chain of parents and applies it from its end: parents come first. */
static int apply_chain(struct draft *d, const char *file, const char *text, size_t len,
		       const struct look_where *where, struct err *err)
{
	char *texts[INHERIT_MAX] = {0}, *files[INHERIT_MAX] = {0};
	size_t lens[INHERIT_MAX] = {0}, n = 0;
	struct draft scratch = {0};
	int r = ini_parse(file, text, len, on_line, &scratch, err);

	while (r == 0 && scratch.inherits[0]) {
		char parent[sizeof(scratch.inherits)];

		if (n == INHERIT_MAX) {
			r = err_say(err, -ELOOP, "%s: too many themes inherit from each other",
				    file);
			break;
		}
		memcpy(parent, scratch.inherits, sizeof(parent));
		r = look_source("theme", parent, where, &texts[n], &lens[n], &files[n], err);
		if (r < 0)
			break;
		scratch = (struct draft){0};
		r = ini_parse(files[n], texts[n], lens[n], on_line, &scratch, err);
		n++;
	}
	for (size_t i = n; r == 0 && i > 0; i--)
		r = ini_parse(files[i - 1], texts[i - 1], lens[i - 1], on_line, d, err);
	if (r == 0)
		r = ini_parse(file, text, len, on_line, d, err);
	for (size_t i = 0; i < INHERIT_MAX; i++) {
		free(texts[i]);
		free(files[i]);
	}
	return r;
}

static int parse_in(struct theme *t, const char *file, const char *text, size_t len,
		    const struct look_where *where, enum depth depth, struct err *err)
{
	struct draft *d = xcalloc(1, sizeof(*d));
	int r = apply_chain(d, file, text, len, where, err);

	if (r == 0)
		finish(t, d, depth);
	free(d);
	return r;
}

int theme_parse(struct theme *t, const char *file, const char *text, size_t len, enum depth depth,
		struct err *err)
{
	return parse_in(t, file, text, len, NULL, depth, err);
}

int theme_load(struct theme *t, const char *name, const struct look_where *where, enum depth depth,
	       struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	size_t len = 0;
	int r = look_source("theme", name, where, &text, &len, &file, err);

	if (r < 0)
		return r;
	return parse_in(t, file, text, len, where, depth, err);
}
