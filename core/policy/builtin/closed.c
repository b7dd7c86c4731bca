/* closed - files of the system that only root may read: closed to the agent of a root's session. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"

/*
 * For an ordinary user the kernel refuses them: password hashes, host keys, TLS keys, the settings
 * of a VPN or a cluster, databases. Run by root, the agent has root's id, and the mode says nothing
 * to it. So they are found by their mode at the start and closed as ~/.ssh is. Empty files, like
 * locks, have nothing to hide, and programs expect to open them.
 */

/* Names that are looked at in a tree, which has some thousand. A directory that would be looked
 * into later is closed as a whole. What is deeper than the depth stays as it is. */
#define NAMES_MAX 20000

static const struct {
	const char *dir;
	int depth;
} trees[] = {{"/boot", 3}, {"/etc", 8}, {"/var", 3}, {"/var/cache/debconf", 1}};

/* Many names that everybody may read; package managers need them whole. */
static const char *const skipped[] = {
	"/var/cache",	   "/var/lib/apt", "/var/lib/dnf",   "/var/lib/dpkg", "/var/lib/flatpak",
	"/var/lib/pacman", "/var/lib/rpm", "/var/lib/snapd", "/var/tmp",      NULL};

struct closing {
	struct policy *p;
	size_t names;
};

static bool is_roots_alone(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return !(st->st_mode & S_IXOTH);
	return S_ISREG(st->st_mode) && st->st_size > 0 && !(st->st_mode & S_IROTH);
}

/* Does a rule, or a folder or --ro, open something beneath this directory? */
static bool leads_to_open(const struct policy *p, const char *dir)
{
	AUTO_BUF struct buf place = BUF_INIT;

	for (size_t i = 0; i < p->folders.n; i++)
		if (path_is_inside(p->folders.list[i], dir))
			return true;
	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (!rule || rule->verdict != RULE_ALLOW ||
		    !(rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC)))
			continue;
		for (uint32_t at = 0; (at = rules_next(p->rules, i, at));) {
			rules_place_of(p->rules, at, &place);
			if (place.len && path_is_inside(place.data, dir))
				return true;
		}
	}
	return false;
}

static void close_in(struct closing *c, const char *dir, int depth);

static void look_at(struct closing *c, DIR *d, const char *dir, const char *name, int depth)
{
	AUTO_FREE char *path = NULL;
	struct stat st;

	if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (!S_ISDIR(st.st_mode) && !is_roots_alone(&st)))
		return;
	path = path_join(dir, name);
	if (str_one_of(path, skipped) || places_cover(&c->p->gated, path))
		return;
	if (is_roots_alone(&st) && !(S_ISDIR(st.st_mode) && leads_to_open(c->p, path))) {
		places_add(&c->p->closed, take_ptr(&path));
		return;
	}
	if (S_ISDIR(st.st_mode) && depth > 1)
		close_in(c, path, depth - 1);
}

static void close_whole(struct policy *p, const char *dir)
{
	if (!p->n_closed_whole++)
		p->closed_whole = xstrdup(dir);
	places_add(&p->closed, xstrdup(dir));
}

static void close_in(struct closing *c, const char *dir, int depth)
{
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;

	if (c->names >= NAMES_MAX && !leads_to_open(c->p, dir)) {
		close_whole(c->p, dir);
		return;
	}
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		c->names++;
		if (e->d_type == DT_DIR || e->d_type == DT_REG || e->d_type == DT_UNKNOWN)
			look_at(c, d, dir, e->d_name, depth);
	}
}

void closed_collect(struct policy *p)
{
	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(trees); i++)
		close_in(&(struct closing){.p = p}, trees[i].dir, trees[i].depth);
}

size_t policy_closed_whole(const struct policy *p, const char **ret_first)
{
	*ret_first = p->closed_whole;
	return p->n_closed_whole;
}

size_t policy_closed(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->closed.list;
	return p->closed.n;
}
