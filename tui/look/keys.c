/* keys - key sequences as text: "C-x", "g g", "S-Tab", "prefix a". */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/text.h"
#include "tui/look/keymap.h"

static const struct {
	const char *name;
	uint32_t sym;
} named[] = {
	{"Enter", SYM_ENTER},
	{"Tab", SYM_TAB},
	{"Esc", SYM_ESC},
	{"Space", ' '},
	{"Backspace", SYM_BACKSPACE},
	{"Up", SYM_UP},
	{"Down", SYM_DOWN},
	{"Left", SYM_LEFT},
	{"Right", SYM_RIGHT},
	{"Home", SYM_HOME},
	{"End", SYM_END},
	{"Insert", SYM_INSERT},
	{"Delete", SYM_DELETE},
	{"PageUp", SYM_PAGE_UP},
	{"PageDown", SYM_PAGE_DOWN},
	{"Escape", SYM_ESC},
	{"Return", SYM_ENTER},
	{"PgUp", SYM_PAGE_UP},
	{"PgDn", SYM_PAGE_DOWN},
};

static void key_format(const struct key *k, struct buf *out)
{
	if (k->mods & MOD_CTRL)
		buf_str(out, "C-");
	if (k->mods & MOD_ALT)
		buf_str(out, "M-");
	if (k->mods & MOD_SHIFT)
		buf_str(out, "S-");
	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (named[i].sym == k->sym) {
			buf_str(out, named[i].name);
			return;
		}
	}
	if (k->sym >= SYM_F1 && k->sym <= SYM_F12) {
		buf_fmt(out, "F%u", k->sym - SYM_F1 + 1);
	} else if (k->sym < 0x80) {
		buf_ch(out, (char)k->sym);
	} else if (k->sym < 0x110000) {
		utf8proc_uint8_t utf8[4];
		utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)k->sym, utf8);

		text_escape(out, (const char *)utf8, (size_t)MAX(n, 0));
	}
}

void keys_format(const struct keys *keys, char *out, size_t size)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (int i = 0; i < keys->n; i++) {
		if (i > 0)
			buf_ch(&b, ' ');
		key_format(&keys->key[i], &b);
	}
	snprintf(out, size, "%s", b.data);
}

static bool symbol_parse(const char *s, uint32_t *ret)
{
	int32_t cp;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (str_eq(named[i].name, s)) {
			*ret = named[i].sym;
			return true;
		}
	}
	if (*s == 'F' && s[1] >= '1' && s[1] <= '9') {
		char *end;
		unsigned long f = strtoul(s + 1, &end, 10);

		*ret = SYM_F1 + (uint32_t)f - 1;
		return *end == '\0' && f <= 12;
	}
	n = text_decode(s, strlen(s), &cp);
	*ret = (uint32_t)cp;
	return cp > ' ' && s[n] == '\0';
}

static int key_parse(struct key *ret, const char *s)
{
	*ret = (struct key){0};
	while (s[0] && s[1] == '-' && s[2]) {
		if (*s == 'C')
			ret->mods |= MOD_CTRL;
		else if (*s == 'M')
			ret->mods |= MOD_ALT;
		else if (*s == 'S')
			ret->mods |= MOD_SHIFT;
		else
			return -EINVAL;
		s += 2;
	}
	if (!symbol_parse(s, &ret->sym))
		return -EINVAL;
	if (ret->mods & MOD_SHIFT && ret->sym > ' ' && ret->sym < 0x110000 &&
	    ret->sym != SYM_BACKSPACE)
		return -EINVAL; /* S-a is A */
	if (ret->mods & MOD_CTRL && ret->sym >= 'A' && ret->sym <= 'Z')
		ret->sym += 'a' - 'A';
	if (ret->mods & MOD_CTRL && ret->sym == 'm')
		*ret = (struct key){SYM_ENTER, ret->mods & ~(uint32_t)MOD_CTRL};
	else if (ret->mods & MOD_CTRL && ret->sym == 'i')
		*ret = (struct key){SYM_TAB, ret->mods & ~(uint32_t)MOD_CTRL};
	else if (ret->mods & MOD_CTRL && ret->sym == '[')
		*ret = (struct key){SYM_ESC, ret->mods & ~(uint32_t)MOD_CTRL};
	return 0;
}

int keys_parse(struct keys *ret, const char *text, const struct key *prefix)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *save = NULL;

	*ret = (struct keys){0};
	for (char *w = strtok_r(copy, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		int r = 0;

		if (ret->n == KEYS_MAX)
			return -E2BIG;
		if (str_eq(w, "prefix") && prefix)
			ret->key[ret->n] = *prefix;
		else
			r = key_parse(&ret->key[ret->n], w);
		if (r < 0)
			return r;
		ret->n++;
	}
	return ret->n ? 0 : -EINVAL;
}
