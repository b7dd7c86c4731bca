/* fs_note - checks the lengths of a message between the fs server and the keeper. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_note.h"

#include <string.h>

static bool put(struct fs_note *n, size_t *at, const char *text, uint32_t *ret_len)
{
	size_t len = text ? strlen(text) : 0;

	if (len >= sizeof(n->data) - *at)
		return false;
	memcpy(n->data + *at, text ? text : "", len + 1);
	*ret_len = (uint32_t)len;
	*at += len + 1;
	return true;
}

size_t fs_note_pack(struct fs_note *n, const struct fs_note_parts *p)
{
	size_t at = 0;

	for (int i = 0; i < 2; i++)
		if (!put(n, &at, p->dir[i], &n->spot[i].dir_len) ||
		    !put(n, &at, p->name[i], &n->spot[i].name_len))
			return 0;
	if (!put(n, &at, p->text, &n->text_len) || n->value_len > sizeof(n->data) - at)
		return 0;
	if (n->value_len)
		memcpy(n->data + at, p->value, n->value_len);
	return FS_NOTE_HEAD + at + n->value_len;
}

/* Takes the next part: len bytes and a NUL. */
static bool take(const struct fs_note *n, size_t total, size_t *at, uint32_t len, const char **ret)
{
	const char *text = n->data + *at;

	if (len >= total - *at || text[len] != '\0' || memchr(text, '\0', len))
		return false;
	*ret = text;
	*at += (size_t)len + 1;
	return true;
}

bool fs_note_parse(const struct fs_note *n, size_t len, struct fs_note_parts *ret)
{
	size_t at = 0, total;

	if (len < FS_NOTE_HEAD || len > sizeof(*n))
		return false;
	total = len - FS_NOTE_HEAD;
	for (int i = 0; i < 2; i++)
		if (!take(n, total, &at, n->spot[i].dir_len, &ret->dir[i]) ||
		    !take(n, total, &at, n->spot[i].name_len, &ret->name[i]))
			return false;
	if (!take(n, total, &at, n->text_len, &ret->text) || n->value_len != total - at)
		return false;
	ret->value = n->data + at;
	return true;
}
