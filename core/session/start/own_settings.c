/* own_settings - settings of an agent for one folder only: a copy, below its cache. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/own_settings.h"

#include <errno.h>
#include <string.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/os/file.h"
#include "core/os/process.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"

/* Limits of a copy: settings are small, larger files such as transcripts are left out. */
#define BYTES_MAX   (32u << 20)
#define ENTRIES_MAX 2048
#define DEPTH_MAX   12

static const char id_letters[] = "0123456789abcdef";

/* ---- settings -------------------------------------------------------------------------------- */

/* Reads "NAME" or "NAME/BELOW". BELOW is where the files are below the directory; NULL: in it. */
static const char *variable_of(const struct config *c, size_t *ret_len, const char **ret_below)
{
	const char *set = config_str(c, "sandbox.settings-variable");

	*ret_len = set ? strcspn(set, "/") : 0;
	*ret_below = set && set[*ret_len] ? set + *ret_len + 1 : NULL;
	return set;
}

/* Returns whether a copy is possible. A profile named by a path has no name for the next start. */
static bool possible(const struct config *c)
{
	const char *profile = config_profile(c), *below;
	size_t len;

	return profile && !strchr(profile, '/') && variable_of(c, &len, &below) &&
	       config_bool(c, "sandbox.cache") && !config_bool(c, "sandbox.shared-settings");
}

char *own_settings_dir(const struct config *c)
{
	const char *profile = config_profile(c), *const *list = NULL;
	size_t n = config_list(c, "sandbox.own-settings", &list), len;

	if (!possible(c))
		return NULL;
	len = strlen(profile);
	while (n--) { /* the newest answer is the last */
		const char *id = list[n] + len;

		if (strncmp(list[n], profile, len) != 0 || (*id && *id != ' '))
			continue;
		id += strspn(id, " ");
		if (strspn(id, id_letters) == strlen(id)) /* else another profile's, with a blank */
			return xasprintf("own/%s%s%s", profile, *id ? "-" : "", id);
	}
	return NULL;
}

bool own_settings_offered(const struct config *c)
{
	AUTO_FREE char *dir = own_settings_dir(c);

	return possible(c) && !dir;
}

char *own_settings_env(const struct config *c, const char *dir)
{
	const char *below, *name;
	size_t len = 0;

	name = variable_of(c, &len, &below);
	return xasprintf("%.*s=$CORDON_CACHE/%s", (int)len, name ? name : "", dir);
}

/* ---- the copy -------------------------------------------------------------------------------- */

struct copying {
	const struct policy *policy;
	struct buf *left;
	uint64_t bytes; /* bytes that may still be copied */
	unsigned entries;
};

static int leave(struct copying *c, const char *path)
{
	buf_fmt(c->left, "%s%s", c->left->len ? ", " : "", path);
	return 0;
}

/* Copies at most size bytes: the file may grow while it is read. */
static int copy_bytes(int from, int to, uint64_t size)
{
	char room[65536];

	while (size) {
		ssize_t n = read(from, room, (size_t)MIN(size, (uint64_t)sizeof(room)));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = io_write_all(to, room, (size_t)n);
		if (r < 0)
			return r;
		size -= (uint64_t)n;
	}
	return 0;
}

static int copy_file(struct copying *c, const char *path, int fd, uint64_t size, int to)
{
	AUTO_CLOSE int out = -1;
	const char *why;

	if (size > c->bytes || policy_check_read(c->policy, RULE_READ, path, &why) != POLICY_ALLOW)
		return leave(c, path);
	out = openat(to, path_base(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     0600);
	if (out < 0)
		return -errno;
	c->bytes -= size;
	return copy_bytes(fd, out, size);
}

static int copy_any(struct copying *c, const char *path, int from, int to, int depth);

/* Copies a directory, unless no entry of it can be copied. Takes fd over. */
static int copy_dir(struct copying *c, const char *path, int fd, int to, int depth)
{
	AUTO_DIR DIR *d = fdopendir(fd);
	AUTO_CLOSE int in = -1;
	bool is_empty = true;
	struct dirent *e;
	int r = 0;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	if (mkdirat(to, path_base(path), 0700) < 0 ||
	    (in = openat(to, path_base(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		AUTO_FREE char *sub = path_join(path, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		is_empty = false;
		r = copy_any(c, sub, dirfd(d), in, depth + 1);
	}
	if (r == 0 && !is_empty && unlinkat(to, path_base(path), AT_REMOVEDIR) < 0 &&
	    errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	return r;
}

/* Copies the file or directory at the last name of path, in the directory `from`. */
static int copy_any(struct copying *c, const char *path, int from, int to, int depth)
{
	AUTO_CLOSE int fd = openat(from, path_base(path),
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : leave(c, path);
	if (fstat(fd, &st) < 0)
		return -errno;
	if (c->entries == 0 || depth > DEPTH_MAX || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return leave(c, path);
	c->entries--;
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, path, take_fd(&fd), to, depth);
	return copy_file(c, path, fd, (uint64_t)st.st_size, to);
}

static int copy_all(struct copying *c, const struct config *config, int to)
{
	const char *const *list = NULL;
	size_t n = config_list(config, "sandbox.settings", &list);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xstrndup(list[i], (size_t)(path_base(list[i]) - list[i]));
		AUTO_FREE char *real = realpath(dir, NULL);
		AUTO_FREE char *path = real ? path_join(real, path_base(list[i])) : NULL;
		AUTO_CLOSE int from = real ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		if (from >= 0)
			r = copy_any(c, path, from, to, 0);
		else if (real)
			leave(c, path);
	}
	return r;
}

/* Opens a directory in `at`, and makes it if needed. Follows no link: an agent may have made it. */
static int enter(int at, const char *name)
{
	int fd;

	if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Makes the copy under another name and renames it, so that it exists as a whole or not at all. */
static int make(struct copying *c, const struct config *config, int own, const char *name)
{
	AUTO_FREE char *fresh = xasprintf(".%s.new", name);
	AUTO_CLOSE int top = -1, in = -1;
	const char *below = NULL;
	size_t len;
	int r = io_remove_tree(own, fresh);

	if (r < 0 && r != -ENOENT)
		return r;
	r = top = enter(own, fresh);
	variable_of(config, &len, &below);
	if (r >= 0 && below)
		r = in = enter(top, below);
	if (r >= 0)
		r = copy_all(c, config, below ? in : top);
	if (r >= 0 && renameat(own, fresh, own, name) < 0)
		r = -errno;
	return MIN(r, 0);
}

/* ---- links for other programs -----------------------------------------------------------------
 */

/* Returns "~/.config" for "~/.config/opencode/opencode.json" if many programs use this directory,
 * else NULL. Heap. */
static char *shared_dir(const struct config *config, const char **ret_below)
{
	const char *const *list = NULL, *below = NULL, *variable;
	size_t n = config_list(config, "sandbox.settings", &list), len;

	variable = variable_of(config, &len, &below);
	if (!variable || !below || strncmp(variable, "XDG_", 4) != 0)
		return NULL;
	*ret_below = below;
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *inside = xasprintf("/%s/", below);
		const char *at = strstr(list[i], inside);

		if (at && at > list[i])
			return xstrndup(list[i], (size_t)(at - list[i]));
	}
	return NULL;
}

/* Links what is beside the agent's directory, as programs that the agent runs use XDG_CONFIG_HOME,
 * too. Runs at each start, for new entries. A name that exists stays: the agent may have made
 * it. */
static int link_others(const struct config *config, int own, const char *name)
{
	const char *below = NULL;
	AUTO_FREE char *dir = shared_dir(config, &below);
	AUTO_DIR DIR *d = dir ? opendir(dir) : NULL;
	AUTO_CLOSE int to = -1;
	struct dirent *e;
	int r = 0;

	if (!d)
		return 0;
	to = openat(own, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return -errno;
	for (size_t n = 0; r == 0 && n < ENTRIES_MAX && (e = readdir(d)); n++) {
		AUTO_FREE char *there = path_join(dir, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") || str_eq(e->d_name, below))
			continue;
		if (symlinkat(there, to, e->d_name) < 0 && errno != EEXIST)
			r = -errno;
	}
	return r;
}

int own_settings_make(const struct config *c, const struct policy *policy, const char *cache,
		      const char *dir, struct buf *left, struct err *err)
{
	struct copying copying = {
		.policy = policy, .left = left, .bytes = BYTES_MAX, .entries = ENTRIES_MAX};
	AUTO_CLOSE int at = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int own = at < 0 ? -errno : enter(at, "own");
	const char *name = path_base(dir);
	struct stat st;
	int r = MIN(own, 0);

	if (r == 0 && fstatat(own, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		r = S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	else if (r == 0)
		r = errno == ENOENT ? make(&copying, c, own, name) : -errno;
	if (r == 0)
		r = link_others(c, own, name);
	if (r < 0)
		return err_set(err, r,
			       "the settings that %s has of its own here: copy to '%s/%s' "
			       "(--shared-settings goes on without)",
			       config_profile(c), cache, dir);
	return 0;
}

/* ---- the answer ------------------------------------------------------------------------------ */

int own_settings_save(const char *home, const char *config_home, const char *folder,
		      const char *profile, struct err *err)
{
	AUTO_FREE char *file = config_project_file(home, config_home, folder);
	AUTO_BUF struct buf value = BUF_INIT;
	unsigned char id[8];

	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		return err_set(err, -EIO, "draw a name for the settings");
	buf_fmt(&value, "%s ", profile);
	for (size_t i = 0; i < sizeof(id); i++)
		buf_fmt(&value, "%02x", id[i]);
	return rules_add_setting(file, "sandbox", "own-settings", value.data, err);
}
