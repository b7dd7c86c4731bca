/* git_vet_index - decides whether git on the host may write the paths that this index names. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/git_index.h"
#include "core/policy/policy_priv.h"

/*
 * git checks a path when it adds it to the index, not when it reads the index: with a path such as
 * "/home/u/.bashrc" or ".git/hooks/post-checkout" in it, `git checkout .` writes that file. So each
 * path is checked here as git's verify_path() does. git also reads the file at offsets of two
 * extensions (EOIE, IEOT), which must agree with the entries read here from the beginning.
 *
 * This runs in the keeper on the agent's bytes (core/base/git_index.h).
 */
#define EOIE_BYTES 4u /* followed by a hash */
#define BLOCKS_MAX 4096u

struct index {
	struct git_index git;
	size_t entries_end;	     /* offset */
	bool empty_names;	     /* has empty names: replaced entries of a shared index */
	bool linked;		     /* there is a shared index */
	bool hides;		     /* git does not compare an entry with its file */
	const unsigned char *blocks; /* IEOT's blocks, and their number; NULL: none */
	uint32_t n_blocks;
};

/* ---- paths ----------------------------------------------------------------------------------- */

/* Returns false if the component may be ".git" or relative for any file system. Cheap. */
static bool is_plain_component(const char *c, size_t n)
{
	if (n == 0)
		return false;
	if (*c == '.' || ((*c == 'g' || *c == 'G') && memchr(c, '~', n)))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)c[i] >= 0x80 || c[i] == '\\')
			return false;
	return true;
}

static bool folds_to(const char *c, size_t n, const char *name)
{
	AUTO_BUF struct buf folded = BUF_INIT;

	names_fold(&folded, c, n);
	return str_eq(folded.data, name);
}

/* Returns whether a component is allowed. A "\" separates components, because Windows may have
 * written the index or will read it. */
static bool component_is_good(const char *c, size_t n, bool is_link)
{
	if (n == 0)
		return false;
	while (n) {
		const char *cut = memchr(c, '\\', n);
		size_t part = cut ? (size_t)(cut - c) : n;

		if (part && *c == '.' && (part == 1 || (part == 2 && c[1] == '.')))
			return false;
		if (folds_to(c, part, ".git") || (is_link && folds_to(c, part, ".gitmodules")))
			return false;
		part += cut != NULL;
		c += part;
		n -= part;
	}
	return true;
}

static bool path_is_good(const char *path, size_t len, uint32_t mode)
{
	const char *end = path + len;

	if (S_ISDIR(mode)) { /* of a sparse index: "dir/" */
		if (len < 2 || end[-1] != '/')
			return false;
		end--;
	}
	for (const char *c = path;; c++) {
		const char *slash = memchr(c, '/', (size_t)(end - c));
		size_t n = (size_t)((slash ? slash : end) - c);

		if (!is_plain_component(c, n) && !component_is_good(c, n, S_ISLNK(mode)))
			return false;
		if (!slash)
			return true;
		c = slash;
	}
}

static bool mode_is_good(uint32_t mode)
{
	return S_ISREG(mode) || S_ISLNK(mode) || S_ISDIR(mode) || (mode & S_IFMT) == 0160000;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* assume-unchanged, skip-worktree */
static bool is_hidden(const struct git_index_entry *e)
{
	return (e->flags & 0x8000u) || (e->more & 0x4000u);
}

static bool read_entry(struct index *x)
{
	struct git_index_entry e;

	if (!git_index_entry(&x->git, &e) || !mode_is_good(e.mode))
		return false;
	x->hides = x->hides || is_hidden(&e);
	if (x->git.name_len == 0) {
		x->empty_names = true;
		return true;
	}
	return path_is_good(x->git.name, x->git.name_len, e.mode);
}

/* ---- extensions ------------------------------------------------------------------------------ */

/* Returns whether the "EOIE" at git's offset is one of the extensions, and has the true end of
 * entries. */
static bool end_is_true(const struct index *x, const unsigned char *found)
{
	const struct git_index *g = &x->git;
	const size_t size = 8 + EOIE_BYTES + g->hash;
	const unsigned char *fixed;

	if ((size_t)(g->end - g->start) < size)
		return !found;
	fixed = g->end - size;
	if (memcmp(fixed, "EOIE", 4) != 0)
		return !found;
	return found == fixed && git_index_number(fixed + 4) == EOIE_BYTES + g->hash &&
	       git_index_number(fixed + 8) == x->entries_end;
}

static bool take_extension(struct index *x, const struct git_index_extension *e)
{
	if (memcmp(e->head, "link", 4) == 0) {
		x->linked = true;
		return true;
	}
	if (memcmp(e->head, "IEOT", 4) == 0) {
		if (x->blocks || e->size < 4 || (e->size - 4) % 8 || git_index_number(e->body) != 1)
			return false;
		x->blocks = e->body + 4;
		x->n_blocks = (e->size - 4) / 8;
		return x->n_blocks <= BLOCKS_MAX;
	}
	/* git refuses an index with an unknown required extension. */
	return isupper(*e->head) || memcmp(e->head, "sdir", 4) == 0;
}

static bool read_extensions(struct index *x)
{
	const unsigned char *found = NULL;
	struct git_index_extension e;

	x->entries_end = (size_t)(x->git.p - x->git.start);
	while (git_index_left(&x->git)) {
		if (!git_index_extension(&x->git, &e) || found)
			return false;
		if (memcmp(e.head, "EOIE", 4) == 0)
			found = e.head;
		else if (!take_extension(x, &e))
			return false;
	}
	return end_is_true(x, found) && (!x->empty_names || x->linked);
}

/* ---- the whole index ------------------------------------------------------------------------- */

/* Checks the blocks at which git's threads begin: each must be at the start of an entry that shares
 * nothing with the name before it, and together they must have all entries. */
static bool blocks_are_true(const struct index *first)
{
	struct index x = *first;
	uint32_t done = 0;

	x.git.p = x.git.start + GIT_INDEX_HEADER;
	x.git.name_len = 0;
	for (uint32_t i = 0; i < x.n_blocks; i++) {
		const unsigned char *block = x.blocks + (size_t)i * 8;
		uint32_t n = git_index_number(block + 4);

		if (git_index_number(block) != (uint32_t)(x.git.p - x.git.start) ||
		    n > x.git.entries - done)
			return false;
		for (uint32_t k = 0; k < n; k++)
			if (!read_entry(&x) || (k == 0 && x.git.kept))
				return false;
		done += n;
	}
	return done == x.git.entries;
}

bool vet_git_index(const char *data, size_t len, size_t hash, bool *ret_hides)
{
	struct index x = {.blocks = NULL};

	if (!git_index_open(&x.git, data, len, hash))
		return false;
	for (uint32_t i = 0; i < x.git.entries; i++)
		if (!read_entry(&x))
			return false;
	*ret_hides = x.hides;
	return read_extensions(&x) && (!x.blocks || blocks_are_true(&x));
}

/* Finds the next hidden entry. Returns false if there is none. */
static bool next_hidden(struct git_index *x, uint32_t *left)
{
	struct git_index_entry e;

	while (*left) {
		(*left)--;
		if (!git_index_entry(x, &e))
			return false;
		if (is_hidden(&e))
			return true;
	}
	return false;
}

/* Both lists are sorted by name, so one pass suffices. */
size_t vet_index_hidden(const char *data, size_t len, const char *old, size_t old_len, size_t hash,
			struct buf *ret_first)
{
	struct git_index now, was;
	uint32_t left, before = 0;
	bool more = false;
	size_t n = 0;

	if (!git_index_open(&now, data, len, hash))
		return 0;
	left = now.entries;
	if (old && git_index_open(&was, old, old_len, hash)) {
		before = was.entries;
		more = next_hidden(&was, &before);
	}
	while (next_hidden(&now, &left)) {
		while (more && strcmp(was.name, now.name) < 0)
			more = next_hidden(&was, &before);
		if (more && str_eq(was.name, now.name))
			continue;
		if (!n++)
			buf_add(ret_first, now.name, now.name_len);
	}
	return n;
}
