/* windows_overlay - modes and symbolic links of a folder whose file system has none. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/windows_overlay.h"

#include <errno.h>
#include <string.h>

#include "backends/vm/fs/windows_names.h"

static void entry_free(struct windows_overlay *o, struct windows_entry *e)
{
	HASH_DEL(o->by_key, e);
	o->n--;
	free(e->key);
	free(e->path);
	free(e->target);
	free(e);
}

void windows_overlay_done(struct windows_overlay *o)
{
	struct windows_entry *e, *next;

	HASH_ITER (hh, o->by_key, e, next)
		entry_free(o, e);
}

static struct windows_entry *find(const struct windows_overlay *o, const char *key)
{
	struct windows_entry *e;

	HASH_FIND_STR(o->by_key, key, e);
	return e;
}

const struct windows_entry *windows_overlay_get(const struct windows_overlay *o, const char *path)
{
	AUTO_FREE char *key = windows_fold(path);

	return key ? find(o, key) : NULL;
}

int windows_overlay_set(struct windows_overlay *o, const char *path, mode_t mode,
			const char *target)
{
	AUTO_FREE char *key = windows_fold(path);
	struct windows_entry *e = key ? find(o, key) : NULL;

	if (!key)
		return -EILSEQ;
	if (!e && o->n >= WINDOWS_ENTRIES_MAX)
		return -ENOSPC;
	if (e)
		entry_free(o, e);
	e = xcalloc(1, sizeof(*e));
	e->key = take_ptr(&key);
	e->path = xstrdup(path);
	e->mode = mode & 07777;
	e->target = xstrdup(target);
	HASH_ADD_KEYPTR(hh, o->by_key, e->key, strlen(e->key), e);
	o->n++;
	return 0;
}

/* Of a folded path below another: what follows; NULL: it is not below. */
static const char *rest_of(const char *key, const char *dir)
{
	size_t len = strlen(dir);

	if (strncmp(key, dir, len) != 0 || (key[len] != '/' && key[len] != '\0'))
		return NULL;
	return key + len;
}

void windows_overlay_remove(struct windows_overlay *o, const char *path)
{
	AUTO_FREE char *dir = windows_fold(path);
	struct windows_entry *e, *next;

	if (!dir)
		return;
	HASH_ITER (hh, o->by_key, e, next)
		if (rest_of(e->key, dir))
			entry_free(o, e);
}

/* How much of path is as deep as dir. Letters of the other case may take other bytes. */
static size_t same_depth(const char *path, const char *dir)
{
	size_t len = 0;

	for (;;) {
		len += strcspn(path + len, "/");
		dir = strchr(dir, '/');
		if (!dir || !path[len])
			return len;
		dir++;
		len++;
	}
}

/* Takes a moved entry out of one table and sets it in another under its new name. */
static int move(struct windows_overlay *out, const struct windows_entry *e, size_t skip,
		const char *to)
{
	AUTO_FREE char *path = xasprintf("%s%s", to, e->path + skip);

	return windows_overlay_set(out, path, e->mode, e->target);
}

int windows_overlay_rename(struct windows_overlay *o, const char *from, const char *to)
{
	AUTO_FREE char *dir = windows_fold(from), *new_dir = windows_fold(to);
	struct windows_overlay moved = {0};
	struct windows_entry *e, *next;
	int r = dir && new_dir ? 0 : -EILSEQ;

	if (r == 0 && !rest_of(dir, new_dir) && rest_of(new_dir, dir))
		return -EINVAL; /* into itself */
	HASH_ITER (hh, o->by_key, e, next) {
		if (r < 0 || !rest_of(e->key, dir))
			continue;
		r = move(&moved, e, same_depth(e->path, from), to);
		if (r == 0)
			entry_free(o, e);
	}
	if (r == 0 && strcmp(dir, new_dir) != 0)
		windows_overlay_remove(o, to); /* what was replaced */
	HASH_ITER (hh, moved.by_key, e, next)
		if (r == 0)
			r = windows_overlay_set(o, e->path, e->mode, e->target);
	windows_overlay_done(&moved);
	return r;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 33 || c == '%' || c == '>' || c == 127)
			buf_fmt(out, "%%%02X", c);
		else
			buf_ch(out, *text);
	}
}

void windows_overlay_format(const struct windows_overlay *o, struct buf *out)
{
	const struct windows_entry *e;

	for (e = o->by_key; e; e = e->hh.next) {
		buf_fmt(out, "%c %04o ", e->target ? 'l' : 'm', e->mode);
		put(out, e->path);
		if (e->target) {
			buf_str(out, " -> ");
			put(out, e->target);
		}
		buf_ch(out, '\n');
	}
}

static int hex(char c)
{
	const char *digits = "0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* A word up to a blank or the end; NULL: it is none. Heap string. */
static char *take_word(const char **at, const char *end)
{
	AUTO_BUF struct buf out = BUF_INIT;

	for (; *at < end && **at != ' '; (*at)++) {
		int c = (unsigned char)**at;

		if (c == '%') {
			if (end - *at < 3 || hex((*at)[1]) < 0 || hex((*at)[2]) < 0)
				return NULL;
			c = hex((*at)[1]) * 16 + hex((*at)[2]);
			*at += 2;
		}
		if (c == 0)
			return NULL;
		buf_ch(&out, (char)c);
	}
	return out.len ? buf_take(&out) : NULL;
}

static int parse_line(struct windows_overlay *o, const char *line, const char *end)
{
	AUTO_FREE char *path = NULL, *target = NULL;
	mode_t mode = 0;

	if (end - line < 8 || (*line != 'm' && *line != 'l') || line[1] != ' ' || line[6] != ' ')
		return -EBADMSG;
	for (int i = 2; i < 6; i++) {
		if (line[i] < '0' || line[i] > '7')
			return -EBADMSG;
		mode = mode * 8 + (mode_t)(line[i] - '0');
	}
	if (*line == 'l') {
		line += 7;
		path = take_word(&line, end);
		if (!path || end - line < 5 || strncmp(line, " -> ", 4) != 0)
			return -EBADMSG;
		line += 4;
		target = take_word(&line, end);
		if (!target)
			return -EBADMSG;
	} else {
		line += 7;
		path = take_word(&line, end);
	}
	if (!path || line != end)
		return -EBADMSG;
	return windows_overlay_set(o, path, mode, target) < 0 ? -EBADMSG : 0;
}

int windows_overlay_parse(struct windows_overlay *o, const char *text, size_t *ret_line)
{
	for (size_t n = 1; *text; n++) {
		const char *end = strchr(text, '\n');

		if (!end || parse_line(o, text, end) < 0) {
			*ret_line = n;
			return -EBADMSG;
		}
		text = end + 1;
	}
	return 0;
}
