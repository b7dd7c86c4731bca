/* git_vet - POLICY_VET: decides whether a file with this content may take a name that git obeys. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/policy_priv.h"

/* ---- lengths of object names ----------------------------------------------------------------- */

/* Returns how many bytes an object's name has in the repository of a configuration; 0: unknown.
 * An index does not store the length of its names: read with another length, it has other entries.
 * So extensions.objectFormat decides, and must not change while an index exists. */
static size_t vet_hash_size(const char *data, size_t len)
{
	struct vet_reader r = vet_reader_of(data, len);
	bool spelled = len && memmem(data, len, "bjectformat", 11);
	size_t size = 20;
	enum line_kind k;

	for (size_t i = 0; !spelled && i + 12 <= len; i++)
		spelled = strncasecmp(data + i, "objectformat", 12) == 0;
	if (!spelled)
		return size;
	size = 0;
	while ((k = vet_next(&r)) != LINE_NONE) {
		struct span v = {r.line.data, 0};

		if (k == LINE_INERT && str_eq(r.section, "extensions") && !*r.sub)
			v = vet_value(&r, "objectformat");
		if (!v.len)
			continue;
		size = v.len == 4 && memcmp(v.data, "sha1", 4) == 0	? 20
		       : v.len == 6 && memcmp(v.data, "sha256", 6) == 0 ? 32
									: 0;
	}
	return size;
}

/* Returns the length of names in the repository of this index. */
static size_t hash_of_index(const char *path)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *common = path_join(dir, "commondir");
	AUTO_FREE char *to = NULL, *text = NULL, *config = NULL;
	size_t len;
	int r = io_read_file(AT_FDCWD, common, PATH_MAX, &to, &len);

	if (r == 0) {
		AUTO_FREE char *joined = NULL;

		to[strcspn(to, "\r\n")] = '\0';
		joined = path_join(dir, to);
		free(dir);
		dir = path_clean(joined);
	} else if (r != -ENOENT) {
		return 0;
	}
	config = path_join(dir, "config");
	r = io_read_file(AT_FDCWD, config, VET_MAX_BYTES, &text, &len);
	if (r < 0)
		return r == -ENOENT ? 20 : 0;
	return vet_hash_size(text, len);
}

/* Returns whether the repository of this configuration has an index. */
static bool has_index(const char *config)
{
	AUTO_FREE char *path = path_dir(config);
	AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strncasecmp(e->d_name, "index", 5) == 0 ||
		    strncasecmp(e->d_name, "sharedindex", 11) == 0 ||
		    strcasecmp(e->d_name, "worktrees") == 0)
			return true;
	return !dir;
}

static bool keeps_format(const char *path, const char *old, size_t old_len, const char *data,
			 size_t len)
{
	size_t now = vet_hash_size(data, len);
	size_t was = old ? vet_hash_size(old, old_len) : 20;

	return now && (now == was || !has_index(path));
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static bool config_may(struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len)
{
	if (!vet_git_config(data, len, old, old_len) ||
	    !vet_git_worktree(p, path, old, old_len, data, len) ||
	    !keeps_format(path, old, old_len, data, len) ||
	    !remotes_may(p, path, old, old_len, data, len))
		return false;
	if (old) /* in a new repository no status could have been seen */
		vet_config_hides(data, len, old, old_len, &p->hides);
	return true;
}

static bool index_may(struct policy *p, const char *path, const char *data, size_t len)
{
	const size_t hash = hash_of_index(path);
	bool hides = false;

	if (!hash || !vet_git_index(data, len, hash, &hides))
		return false;
	if (hides)
		buf_str(&p->hides, "index");
	return true;
}

const char *policy_hides(const struct policy *p)
{
	return p->hides.data;
}

size_t policy_index_hides(const char *path, const char *data, size_t len, const char *old,
			  size_t old_len, struct buf *ret_first)
{
	return vet_index_hidden(data, len, old, old_len, hash_of_index(path), ret_first);
}

bool policy_vet(struct policy *p, const char *path, const char *data, size_t len)
{
	return policy_vet_change(p, path, NULL, 0, data, len);
}

bool policy_vet_change(struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len)
{
	const char *reason;

	buf_clear(&p->hides);
	if (policy_check(p, data ? POLICY_RENAME_TO : POLICY_REMOVE, path, &reason) != POLICY_VET)
		return false;
	switch (policy_content(p, path)) {
	case CONTENT_CONFIG:
		return data ? config_may(p, path, old, old_len, data, len)
			    : remotes_note(p, path, old, old_len);
	case CONTENT_INDEX:
		return index_may(p, path, data, len);
	case CONTENT_REBASE:
		return vet_git_rebase(data, len, old, old_len);
	case CONTENT_STRATEGY:
		return data && vet_git_strategy(data, len);
	case CONTENT_OPTIONS:
		return data && vet_git_options(data, len);
	case CONTENT_EMPTY:
		return data && len == 0;
	case CONTENT_SHALLOW:
		return data && shallow_may(p, path, old, old_len, data, len);
	case CONTENT_POINTER:
		return data && vet_git_pointer(p, path, data, len);
	case CONTENT_NONE:
		break;
	}
	return false;
}
