/* names - folds file names so that all aliases of a name become the same text. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <utf8proc.h>

#include "core/os/text.h"
#include "core/policy/policy_priv.h"

static bool is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return false;
	return true;
}

/*
 * ext4 and APFS compare decomposed, case-folded text without ignorable code points; NFKD finds
 * further aliases only. Bytes that are not UTF-8 stay as they are.
 */
static void fold_unicode(struct buf *out, const char *name, size_t len)
{
	utf8proc_uint8_t *folded = NULL;
	utf8proc_ssize_t n =
		utf8proc_map((const utf8proc_uint8_t *)name, (utf8proc_ssize_t)len, &folded,
			     UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
				     UTF8PROC_IGNORE | UTF8PROC_STRIPMARK);

	if (n >= 0)
		buf_add(out, folded, (size_t)n);
	else
		buf_add(out, name, len);
	free(folded);
}

/* Removes the end that file systems ignore: vfat and NTFS drop dots and blanks; NTFS reads
 * "name:stream". */
static void cut_tail(struct buf *out, size_t start)
{
	char *colon = memchr(out->data + start, ':', out->len - start);

	if (colon && colon > out->data + start)
		buf_truncate(out, (size_t)(colon - out->data));
	while (out->len > start + 1 &&
	       (out->data[out->len - 1] == '.' || out->data[out->len - 1] == ' '))
		buf_truncate(out, out->len - 1);
}

/* Expands vfat's short names: "GIT~1" is ".git"; longer names keep their first six characters. */
static void expand_short(struct buf *out, size_t start)
{
	static const struct {
		const char *head, *name;
	} shorts[] = {
		{"git", ".git"},	{"bashrc", ".bashrc"}, {"bash_p", ".bash_profile"},
		{"profil", ".profile"}, {"zshrc", ".zshrc"},   {"zshenv", ".zshenv"},
		{"envrc", ".envrc"},	{"vscode", ".vscode"}, {"claude", ".claude"},
		{"cursor", ".cursor"},	{"codex", ".codex"},   {"gemini", ".gemini"},
		{"idea", ".idea"},	{"husky", ".husky"},   {"gitcon", ".gitconfig"},
		{"cordon", ".cordon"},	{"mcp", ".mcp.json"},  {"env", ".env"},
	};
	const char *s = out->data + start;
	const char *tilde = strchr(s, '~');
	size_t n = tilde ? (size_t)(tilde - s) : 0;

	if (!tilde || tilde[1] < '1' || tilde[1] > '9')
		return;
	for (size_t i = 0; i < ARRAY_LEN(shorts); i++) {
		if (strlen(shorts[i].head) != n || memcmp(s, shorts[i].head, n) != 0)
			continue;
		buf_truncate(out, start);
		buf_str(out, shorts[i].name);
		return;
	}
}

static bool has_oddity(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] == '~' || name[i] == ':' ||
		    ((name[i] == '.' || name[i] == ' ') && i + 1 == len))
			return true;
	return false;
}

void names_fold(struct buf *out, const char *name, size_t len)
{
	size_t start = out->len;
	bool ascii = is_ascii(name, len);

	if (ascii) {
		buf_add(out, name, len);
		for (char *c = out->data + start; *c; c++)
			if (*c >= 'A' && *c <= 'Z')
				*c = (char)(*c | 0x20);
	} else {
		fold_unicode(out, name, len);
	}
	if (ascii && !has_oddity(name, len))
		return;
	cut_tail(out, start);
	expand_short(out, start);
}

/* Folds a path of plain ASCII, as nearly all are, in one pass. Otherwise returns false and appends
 * nothing. */
static bool fold_plain(struct buf *out, const char *path)
{
	size_t start = out->len, len = strlen(path);
	unsigned odd = 0;
	char *to;

	buf_reserve(out, len);
	to = out->data + start;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		odd |= (c & 0x80u) | (c == '~') | (c == ':') |
		       ((c == '.' || c == ' ') && (path[i + 1] == '/' || !path[i + 1]));
		to[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	to[len] = '\0';
	out->len = start + len;
	return !odd;
}

void names_fold_path(struct buf *out, const char *path)
{
	size_t start = out->len;

	if (fold_plain(out, path))
		return;
	buf_truncate(out, start);
	while (*path) {
		size_t n = (size_t)(strchrnul(path, '/') - path);

		if (n)
			names_fold(out, path, n);
		path += n;
		if (*path == '/') {
			buf_ch(out, '/');
			path++;
		}
	}
}
