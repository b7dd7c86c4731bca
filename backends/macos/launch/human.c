/* human - the user that the agent runs as when cordon runs as root. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/human.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/util.h"

#ifdef __APPLE__
typedef int group_number;
#else
typedef gid_t group_number;
#endif

static bool parse_uid(const char *text, uid_t *ret)
{
	char *end;
	unsigned long n;

	if (!text || *text < '0' || *text > '9' || strlen(text) > 10)
		return false;
	n = strtoul(text, &end, 10);
	*ret = (uid_t)n;
	return !*end && n > 0 && n < UINT32_MAX;
}

static void find_groups(struct human *h)
{
	group_number list[HUMAN_GROUPS];
	int n = HUMAN_GROUPS;

	(void)getgrouplist(h->name, (group_number)h->gid, list, &n);
	h->n_groups = MIN(n, HUMAN_GROUPS);
	for (int i = 0; i < h->n_groups; i++)
		h->groups[i] = (gid_t)list[i];
}

/* Returns 0 if `home` is the agent's home: the hidden paths must be in that home. */
static int check_home(const char *home, const struct passwd *pw, struct err *err)
{
	AUTO_FREE char *ours = home ? realpath(home, NULL) : NULL;
	AUTO_FREE char *theirs = realpath(pw->pw_dir, NULL);

	if (ours && theirs && str_eq(ours, theirs))
		return 0;
	return err_say(err, -EPERM,
		       "HOME is '%s', but the agent would run as '%s', whose home is '%s': start "
		       "cordon with sudo HOME='%s'",
		       home ? home : "", pw->pw_name, pw->pw_dir, pw->pw_dir);
}

int human_find(struct human *ret, const struct human_spec *spec, struct err *err)
{
	struct passwd entry, *pw = NULL;
	char text[4096];
	uid_t uid;
	int r;

	*ret = (struct human){0};
	if (spec->euid != 0)
		return 0;
	if (!parse_uid(spec->sudo_uid, &uid) ||
	    getpwuid_r(uid, &entry, text, sizeof(text), &pw) != 0 || !pw || !*pw->pw_name) {
		if (spec->as_root)
			return 0;
		return err_say(err, -EPERM,
			       "cordon runs as root and nobody is known whom the agent could run "
			       "as: start cordon with sudo, or set sandbox.as-root if it shall "
			       "be root");
	}
	r = check_home(spec->home, pw, err);
	if (r < 0)
		return r;
	*ret = (struct human){
		.known = true, .uid = uid, .gid = pw->pw_gid, .name = xstrdup(pw->pw_name)};
	find_groups(ret);
	return 0;
}

void human_done(struct human *h)
{
	free(h->name);
	*h = (struct human){0};
}

int human_become(const struct human *h)
{
	if (!h->known)
		return 0;
	/* In this order: after setuid(2) the others are refused. */
	if (setgroups((size_t)h->n_groups, h->groups) < 0 || setgid(h->gid) < 0 ||
	    setuid(h->uid) < 0)
		return -errno;
	if (getuid() != h->uid || geteuid() != h->uid || getgid() != h->gid ||
	    getegid() != h->gid || setuid(0) == 0 || seteuid(0) == 0)
		return -EPERM;
	return 0;
}

/* Gives the user the directory's entries. The directory itself comes last: until then only root can
 * add entries. */
static int give_entries(const struct human *h, int fd)
{
	AUTO_DIR DIR *dir = NULL;
	const struct dirent *e;
	int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (list < 0)
		return -errno;
	dir = fdopendir(list);
	if (!dir) {
		(void)close(list);
		return -ENOMEM;
	}
	while ((e = readdir(dir)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
		    fchownat(fd, e->d_name, h->uid, h->gid, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	return 0;
}

int human_give(const struct human *h, const char *path)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r;

	if (!h->known)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid == h->uid)
		return 0;
	if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	r = give_entries(h, fd);
	if (r < 0)
		return r;
	return fchown(fd, h->uid, h->gid) < 0 ? -errno : 0;
}
