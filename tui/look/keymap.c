/* keymap - maps keys to actions, for each place. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/keymap.h"

#include <errno.h>
#include <string.h>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "tui/look/ini.h"

#define INHERIT_MAX  4
#define BINDINGS_MAX 1024

struct loader {
	struct keymap *km;
	const struct look_where *where;
	size_t depth;
	/* Actions that this file has named: the first mention drops their inherited keys. */
	bool named[PLACE_COUNT][ACTION_COUNT];
};

static int load_text(struct loader *parent, const char *file, const char *text, size_t len,
		     struct err *err);

static bool key_eq(const struct key *a, const struct key *b)
{
	return a->sym == b->sym && a->mods == b->mods;
}

/* Returns whether one sequence is equal to the other or to its beginning. */
static bool keys_clash(const struct keys *a, const struct keys *b)
{
	for (int i = 0; i < MIN(a->n, b->n); i++) {
		if (!key_eq(&a->key[i], &b->key[i]))
			return false;
	}
	return true;
}

static bool is_answer(enum action a)
{
	return a == ACTION_ALLOW || a == ACTION_ALLOW_COMMAND;
}

bool keymap_is_grave(enum action a)
{
	return is_answer(a) || a == ACTION_CONFIRM || a == ACTION_FORCE || a == ACTION_END_AGENT;
}

static bool is_reflex(const struct key *k)
{
	return k->sym == SYM_ENTER || k->sym == ' ' || k->sym == 'y' || k->sym == 'Y' ||
	       (k->sym == 'j' && k->mods & MOD_CTRL);
}

/* Refuses bindings that no keymap file may have. */
static int guard(const struct keymap *km, const struct binding *b, const struct ini_line *l,
		 struct err *err)
{
	if (b->place == PLACE_TERMINAL && !key_eq(&b->keys.key[0], &km->prefix))
		return ini_error(err, l,
				 "in [keys \"terminal\"] every binding begins with the prefix");
	if (b->place != PLACE_TERMINAL && b->place != PLACE_SCROLL && b->place != PLACE_GLOBAL &&
	    key_eq(&b->keys.key[0], &km->prefix))
		return ini_error(err, l, "bindings with the prefix belong into [keys \"global\"]");
	for (int i = 0; keymap_is_grave(b->action) && i < b->keys.n; i++) {
		if (is_reflex(&b->keys.key[i]))
			return ini_error(
				err, l,
				"%s cannot be on Enter, Space or y: they are typed by reflex",
				action_name(b->action));
	}
	if (is_answer(b->action) && b->action != ACTION_ALLOW && b->keys.n < 2)
		return ini_error(err, l, "%s needs a sequence of at least two keys",
				 action_name(b->action));
	return 0;
}

/* Returns a binding that clashes with b. In one place every clash counts; between a place and
 * "global" only one sequence that begins the other. */
static const struct binding *clashes(const struct keymap *km, const struct binding *b)
{
	for (size_t i = 0; i < km->n; i++) {
		const struct binding *o = &km->list[i];
		bool near = o->place == PLACE_GLOBAL || b->place == PLACE_GLOBAL;

		if (o->place != b->place && !near)
			continue;
		if (o == b || !keys_clash(&o->keys, &b->keys))
			continue;
		if (o->place == b->place && (o->action != b->action || o->keys.n != b->keys.n))
			return o;
		if (o->place != b->place && o->keys.n != b->keys.n)
			return o;
	}
	return NULL;
}

static void drop_action(struct keymap *km, enum place place, enum action a)
{
	size_t kept = 0;

	for (size_t i = 0; i < km->n; i++) {
		if (km->list[i].place != place || km->list[i].action != a)
			km->list[kept++] = km->list[i];
	}
	km->n = kept;
}

static int add_binding(struct keymap *km, const struct binding *b, const struct ini_line *l,
		       struct err *err)
{
	const struct binding *other;
	char keys[64];
	int r = guard(km, b, l, err);

	if (r < 0)
		return r;
	other = clashes(km, b);
	if (other) {
		keys_format(&other->keys, keys, sizeof(keys));
		return ini_error(err, l, "%s clashes with %s = %s in [keys \"%s\"]",
				 action_name(b->action), action_name(other->action), keys,
				 place_name(other->place));
	}
	if (km->n == BINDINGS_MAX)
		return ini_error(err, l, "more than %d bindings", BINDINGS_MAX);
	if (km->n == km->cap) {
		km->cap = km->cap ? km->cap * 2 : 64;
		km->list = xrealloc(km->list, km->cap * sizeof(*km->list));
	}
	km->list[km->n++] = *b;
	return 0;
}

static int unknown_action(const struct ini_line *l, struct err *err)
{
	struct nearest near = nearest_to(l->name);

	for (int i = 1; i < ACTION_COUNT; i++)
		nearest_try(&near, action_name((enum action)i));
	return ini_error(err, l, "unknown action '%.40s'%s%s%s", l->name,
			 near.best ? ": did you mean '" : "", near.best ? near.best : "",
			 near.best ? "'?" : "");
}

static int set_keys(struct loader *ld, const struct ini_line *l, struct err *err)
{
	int place = keys_place(*l->sub ? l->sub : "global");
	struct binding b = {.action = action_find(l->name)};
	char safe[64];

	if (place < 0)
		return ini_error(err, l, "unknown part in [keys \"%.40s\"]", l->sub);
	if (b.action == ACTION_NONE)
		return unknown_action(l, err);
	b.place = (enum place)place;
	if (!ld->named[place][b.action])
		drop_action(ld->km, b.place, b.action);
	ld->named[place][b.action] = true;
	if (str_eq(l->value, "none"))
		return 0;
	if (keys_parse(&b.keys, l->value, &ld->km->prefix) < 0) {
		text_escape_into(safe, sizeof(safe), l->value, strlen(l->value));
		return ini_error(err, l,
				 "'%s' is no key: write it like a, C-x, M-x, S-Tab, F5, \"g g\"",
				 safe);
	}
	return add_binding(ld->km, &b, l, err);
}

/* Sets the prefix, also in the bindings that use it. Returns NULL, or the reason of a failure;
 * with: the clashing action. */
static const char *change_prefix(struct keymap *km, const char *text, enum action *with)
{
	struct keys keys;
	struct key old = km->prefix;

	*with = ACTION_NONE;
	if (keys_parse(&keys, text, NULL) < 0 || keys.n != 1 ||
	    !(keys.key[0].mods & MOD_CTRL || keys.key[0].sym >= SYM_F1) || is_reflex(&keys.key[0]))
		return "prefix is one key with C- or a function key, as C-] or F12";
	for (size_t i = 0; i < km->n; i++)
		for (int k = 0; k < km->list[i].keys.n; k++)
			if (key_eq(&km->list[i].keys.key[k], &old))
				km->list[i].keys.key[k] = keys.key[0];
	km->prefix = keys.key[0];
	for (size_t i = 0; i < km->n; i++) {
		if (!clashes(km, &km->list[i]))
			continue;
		*with = km->list[i].action;
		return "the prefix clashes with the key of";
	}
	return NULL;
}

static int set_prefix(struct loader *ld, const struct ini_line *l, struct err *err)
{
	enum action with;
	const char *why = change_prefix(ld->km, l->value, &with);

	if (!why)
		return 0;
	return ini_error(err, l, "%s%s%s", why, with ? " " : "", with ? action_name(with) : "");
}

int keymap_set_prefix(struct keymap *km, const char *keys, struct err *err)
{
	struct keymap copy = {.prefix = km->prefix, .n = km->n, .cap = km->n};
	enum action with;
	const char *why;

	copy.list = xcalloc(km->n + 1, sizeof(*copy.list));
	memcpy(copy.list, km->list, km->n * sizeof(*copy.list));
	why = change_prefix(&copy, keys, &with);
	if (why) {
		free(copy.list);
		return err_say(err, -EINVAL, "%s%s%s", why, with ? " " : "",
			       with ? action_name(with) : "");
	}
	free(km->list);
	*km = copy;
	return 0;
}

static int inherit(struct loader *ld, const struct ini_line *l, struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	size_t len = 0;
	int r;

	if (ld->km->n > 0)
		return ini_error(err, l, "inherits stands before every binding");
	if (ld->depth == INHERIT_MAX)
		return ini_error(err, l, "too many keymaps inherit from each other");
	if (strchr(l->value, '/'))
		return ini_error(err, l, "inherits names a keymap, not a path");
	r = look_source("keymap", l->value, ld->where, &text, &len, &file, err);
	if (r < 0)
		return r;
	return load_text(ld, file, text, len, err);
}

static int on_line(void *data, const struct ini_line *l, struct err *err)
{
	struct loader *ld = data;

	if (str_eq(l->section, "keys"))
		return set_keys(ld, l, err);
	if (!str_eq(l->section, "keymap") || *l->sub)
		return ini_error(err, l,
				 "unknown section [%.40s]: [keymap] and [keys \"...\"] are known",
				 l->section);
	if (str_eq(l->name, "prefix"))
		return set_prefix(ld, l, err);
	if (str_eq(l->name, "inherits"))
		return inherit(ld, l, err);
	if (str_eq(l->name, "name"))
		return 0;
	return ini_error(err, l, "unknown setting '%.40s': [keymap] has name, prefix, inherits",
			 l->name);
}

/* The depth of the recursion is bounded by INHERIT_MAX. */
static int load_text(struct loader *parent, const char *file, const char *text, size_t len,
		     struct err *err)
{
	struct loader ld = {.km = parent->km, .where = parent->where, .depth = parent->depth + 1};

	return ini_parse(file, text, len, on_line, &ld, err);
}

static int parse_in(struct keymap **ret, const char *file, const char *text, size_t len,
		    const struct look_where *where, struct err *err)
{
	struct keymap *km = xcalloc(1, sizeof(*km));
	struct loader root = {.km = km, .where = where};
	int r;

	km->prefix = (struct key){']', MOD_CTRL};
	r = load_text(&root, file, text, len, err);
	if (r < 0) {
		keymap_free(km);
		return r;
	}
	*ret = km;
	return 0;
}

int keymap_parse(struct keymap **ret, const char *file, const char *text, size_t len,
		 struct err *err)
{
	return parse_in(ret, file, text, len, NULL, err);
}

int keymap_load(struct keymap **ret, const char *name, const struct look_where *where,
		struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	size_t len = 0;
	int r = look_source("keymap", name, where, &text, &len, &file, err);

	if (r < 0)
		return r;
	return parse_in(ret, file, text, len, where, err);
}

void keymap_free(struct keymap *km)
{
	if (!km)
		return;
	free(km->list);
	free(km);
}

/* Looks the keys up in one place alone. */
static enum keymap_result look_up(const struct keymap *km, const struct keys *typed,
				  enum place place, enum action *ret)
{
	for (size_t i = 0; i < km->n; i++) {
		const struct binding *b = &km->list[i];

		if (b->place != place || b->keys.n < typed->n || !keys_clash(&b->keys, typed))
			continue;
		if (b->keys.n > typed->n)
			return KEYMAP_PENDING;
		*ret = b->action;
		return KEYMAP_FOUND;
	}
	return KEYMAP_NONE;
}

enum keymap_result keymap_feed(const struct keymap *km, struct keymap_state *st, enum place place,
			       struct key key, enum action *ret_action)
{
	enum keymap_result r = KEYMAP_NONE;

	if (place == PLACE_TERMINAL && st->typed.n == 0 && !key_eq(&key, &km->prefix))
		return KEYMAP_NONE;
	if (st->typed.n < KEYS_MAX) {
		st->typed.key[st->typed.n++] = key;
		r = look_up(km, &st->typed, place, ret_action);
		if (r == KEYMAP_NONE)
			r = look_up(km, &st->typed, PLACE_GLOBAL, ret_action);
	}
	if (r != KEYMAP_PENDING)
		st->typed.n = 0;
	return r;
}

enum action keymap_single(const struct keymap *km, enum place place, struct key key)
{
	struct keys typed = {.n = 1, .key = {key}};
	enum action a;

	return look_up(km, &typed, place, &a) == KEYMAP_FOUND ? a : ACTION_NONE;
}

/* Returns whether the place binds the keys of a "global" binding itself. */
static bool is_taken(const struct keymap *km, enum place place, const struct keys *keys)
{
	enum action other;

	return look_up(km, keys, place, &other) == KEYMAP_FOUND;
}

/* Returns whether the key is text for the palette's search. */
static bool is_text(enum place place, const struct key *k)
{
	return place == PLACE_PALETTE && k->mods == 0 && k->sym >= ' ' && k->sym < 0x110000;
}

/* Returns the shortest binding of an action in one place; of equal ones the first. */
static const struct binding *shortest(const struct keymap *km, enum place place, enum place from,
				      enum action a)
{
	const struct binding *best = NULL;

	for (size_t i = 0; i < km->n; i++) {
		const struct binding *b = &km->list[i];

		if (b->place != place || b->action != a || (best && best->keys.n <= b->keys.n))
			continue;
		if (from == PLACE_TERMINAL && !key_eq(&b->keys.key[0], &km->prefix))
			continue;
		if (is_text(from, &b->keys.key[0]))
			continue;
		if (place == from || !is_taken(km, from, &b->keys))
			best = b;
	}
	return best;
}

bool keymap_binds(const struct keymap *km, enum place place, enum action a)
{
	for (size_t i = 0; i < km->n; i++)
		if (km->list[i].place == place && km->list[i].action == a)
			return true;
	return false;
}

bool keymap_keys_of(const struct keymap *km, enum place place, enum action a, char *out,
		    size_t size)
{
	const struct binding *b = shortest(km, place, place, a);

	if (!b)
		b = shortest(km, PLACE_GLOBAL, place, a);
	if (b)
		keys_format(&b->keys, out, size);
	return b != NULL;
}
