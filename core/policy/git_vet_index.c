/* git_vet_index - may git on the host write the paths that this index names? */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "core/policy/policy_priv.h"

/*
 * git checks a path when it puts it into the index, not when it reads the index: with a path such
 * as "/home/u/.bashrc" or ".git/hooks/post-checkout" in it, `git checkout .` writes that file. So
 * each path is checked here as git's verify_path() does. gitformat-index(5) has the format; git
 * also reads it from the offsets in two extensions (EOIE, IEOT), which have to agree with what is
 * read here from the beginning on.
 *
 * This runs in the keeper on the agent's bytes: every read is bounded, nothing is allocated, and
 * time is proportional to the length of all paths.
 */
#define NAME_LONG  0xfffu
#define EXTENDED   0x4000u
#define STAT_BYTES 40u
#define MODE_AT	   24u
#define EOIE_BYTES 4u /* and a hash */
#define PATH_LIMIT 4096u
#define BLOCKS_MAX 4096u

struct index {
	const unsigned char *start, *p, *end; /* end: of what is before the last hash */
	size_t hash;
	uint32_t version, entries;
	char name[PATH_LIMIT + 1];   /* of the last entry */
	size_t name_len, kept;	     /* bytes; of the name before it */
	size_t entries_end;	     /* offset */
	bool empty_names;	     /* there are some: replaced entries of a shared index */
	bool linked;		     /* there is a shared index */
	const unsigned char *blocks; /* IEOT's, and how many; NULL: none */
	uint32_t n_blocks;
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t left(const struct index *x)
{
	return (size_t)(x->end - x->p);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Can this component be ".git" or a relative one, for any file system? Cheap and often. */
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

/* A "\" parts components where Windows has written or will read it. */
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

/* The offset encoding of pack files: how many bytes of the last name go. */
static bool read_varint(struct index *x, size_t *ret)
{
	size_t v;
	unsigned char c;

	if (!left(x))
		return false;
	c = *x->p++;
	v = c & 0x7fu;
	while (c & 0x80u) {
		if (!left(x) || v > PATH_LIMIT)
			return false;
		c = *x->p++;
		v = ((v + 1) << 7) | (c & 0x7fu);
	}
	*ret = v;
	return true;
}

/* The name as git takes it: of `flagged` bytes, or up to its NUL where that is too long to say. */
static bool read_name(struct index *x, const unsigned char *entry, size_t flagged)
{
	size_t kept = 0, gone = 0, n;
	const unsigned char *nul;

	if (x->version == 4) {
		if (!read_varint(x, &gone) || gone > x->name_len)
			return false;
		kept = x->name_len - gone;
	}
	nul = memchr(x->p, '\0', left(x));
	n = nul ? (size_t)(nul - x->p) : 0;
	if (!nul || kept + n > PATH_LIMIT ||
	    (flagged < NAME_LONG ? kept + n != flagged : kept + n < NAME_LONG))
		return false;
	memcpy(x->name + kept, x->p, n);
	x->name_len = kept + n;
	x->kept = kept;
	x->name[x->name_len] = '\0';
	x->p = nul + 1;
	if (x->version == 4)
		return true;
	n = ((size_t)(nul - entry) + 8) & ~(size_t)7; /* one to eight NULs */
	if ((size_t)(x->end - entry) < n)
		return false;
	x->p = entry + n;
	return true;
}

static bool read_entry(struct index *x)
{
	const unsigned char *entry = x->p;
	uint32_t mode, flags;

	if (left(x) < STAT_BYTES + x->hash + 2)
		return false;
	mode = be32(entry + MODE_AT);
	flags = (uint32_t)entry[STAT_BYTES + x->hash] << 8 | entry[STAT_BYTES + x->hash + 1];
	x->p += STAT_BYTES + x->hash + 2;
	if (flags & EXTENDED) {
		if (x->version < 3 || left(x) < 2)
			return false;
		x->p += 2;
	}
	if (!read_name(x, entry, flags & NAME_LONG) || !mode_is_good(mode))
		return false;
	if (x->name_len == 0) {
		x->empty_names = true;
		return true;
	}
	return path_is_good(x->name, x->name_len, mode);
}

/* ---- extensions ------------------------------------------------------------------------------ */

/* "EOIE" where git looks for it is one of the extensions, and tells where entries end. */
static bool end_is_true(const struct index *x, const unsigned char *found)
{
	const size_t size = 8 + EOIE_BYTES + x->hash;
	const unsigned char *fixed;

	if ((size_t)(x->end - x->start) < size)
		return !found;
	fixed = x->end - size;
	if (memcmp(fixed, "EOIE", 4) != 0)
		return !found;
	return found == fixed && be32(fixed + 4) == EOIE_BYTES + x->hash &&
	       be32(fixed + 8) == x->entries_end;
}

static bool take_extension(struct index *x, const unsigned char *head, uint32_t size)
{
	if (memcmp(head, "link", 4) == 0) {
		x->linked = true;
		return true;
	}
	if (memcmp(head, "IEOT", 4) == 0) {
		if (x->blocks || size < 4 || (size - 4) % 8 || be32(head + 8) != 1)
			return false;
		x->blocks = head + 12;
		x->n_blocks = (size - 4) / 8;
		return x->n_blocks <= BLOCKS_MAX;
	}
	/* git gives up at what it must understand and does not. */
	return isupper(*head) || memcmp(head, "sdir", 4) == 0;
}

static bool read_extensions(struct index *x)
{
	const unsigned char *found = NULL;

	x->entries_end = (size_t)(x->p - x->start);
	while (left(x)) {
		const unsigned char *head = x->p;
		uint32_t size;

		if (left(x) < 8)
			return false;
		size = be32(head + 4);
		x->p += 8;
		if (size > left(x) || found)
			return false;
		if (memcmp(head, "EOIE", 4) == 0)
			found = head;
		else if (!take_extension(x, head, size))
			return false;
		x->p += size;
	}
	return end_is_true(x, found) && (!x->empty_names || x->linked);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool begin(struct index *x, const char *data, size_t len, size_t hash)
{
	*x = (struct index){.start = (const unsigned char *)data, .hash = hash};
	if (len < 12 + hash || memcmp(data, "DIRC", 4) != 0)
		return false;
	x->end = x->start + len - hash;
	x->version = be32(x->start + 4);
	x->entries = be32(x->start + 8);
	x->p = x->start + 12;
	return x->version >= 2 && x->version <= 4;
}

/* Threads of git begin at blocks: each must be where an entry begins that takes nothing from the
 * name before it, and together they must be all entries. */
static bool blocks_are_true(const struct index *first)
{
	struct index x = *first;
	uint32_t done = 0;

	x.p = x.start + 12;
	x.name_len = 0;
	for (uint32_t i = 0; i < x.n_blocks; i++) {
		const unsigned char *block = x.blocks + (size_t)i * 8;
		uint32_t n = be32(block + 4);

		if (be32(block) != (uint32_t)(x.p - x.start) || n > x.entries - done)
			return false;
		for (uint32_t k = 0; k < n; k++)
			if (!read_entry(&x) || (k == 0 && x.kept))
				return false;
		done += n;
	}
	return done == x.entries;
}

bool vet_git_index(const char *data, size_t len, size_t hash)
{
	struct index x;

	if (!begin(&x, data, len, hash))
		return false;
	for (uint32_t i = 0; i < x.entries; i++)
		if (!read_entry(&x))
			return false;
	return read_extensions(&x) && (!x.blocks || blocks_are_true(&x));
}
