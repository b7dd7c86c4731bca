/* reload_posts_linux - reports changes of a few files, by inotify(7). */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/reload_posts.h"

#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/os/text.h"

/*
 * Directories are watched, not files: editors replace a file by renaming another one over it. If
 * the directory does not exist, its nearest existing ancestor is watched for names only.
 */
#define TRIES 8 /* attempts to find the same directory twice while directories change */

#define NAMES (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD)
#define FILES (NAMES | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB)
#define LOST  (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

/* The watch for a file. */
struct post {
	int wd;		  /* -1: none */
	const char *name; /* in file: the rest of the path, from the name awaited there */
	size_t len;	  /* of that name; 0: any name in a directory of files */
	bool whole;	  /* the name is the file's own */
};

struct posts {
	int fd;
	char **files;
	struct post posts[FILES_MAX];
};

static struct post post_at(const struct posts *r, const char *file, const char *slash)
{
	AUTO_FREE char *dir = xstrndup(file, (size_t)(slash - file));
	struct post p = {.name = slash + 1, .len = strcspn(slash + 1, "/")};

	p.whole = !p.name[p.len] && (p.len || slash == strrchr(file, '/'));
	p.wd = inotify_add_watch(r->fd, *dir ? dir : "/", p.whole ? FILES : NAMES);
	return p;
}

/* Finds the nearest existing directory. */
static struct post find_post(const struct posts *r, const char *file)
{
	const char *slash = strrchr(file, '/');
	struct post p = post_at(r, file, slash);

	while (p.wd < 0 && slash > file) {
		slash = memrchr(file, '/', (size_t)(slash - file));
		p = post_at(r, file, slash);
	}
	return p;
}

/* Watches a file. A directory that was made before its parent was watched is found by the second
 * look. */
static void watch_file(struct posts *r, size_t i)
{
	struct post *p = &r->posts[i], last = find_post(r, r->files[i]);

	for (int k = 0; k < TRIES; k++) {
		*p = find_post(r, r->files[i]);
		if (p->wd == last.wd)
			return;
		last = *p;
	}
}

static void watch_files(struct posts *r)
{
	for (size_t i = 0; i < FILES_MAX && r->files[i]; i++)
		watch_file(r, i);
}

/* Returns whether no further event will follow for a new file: a plain file is reported again when
 * it is closed, a link is not. */
static bool is_whole_at_once(const char *file)
{
	struct stat st;

	return lstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1;
}

static bool concerns_file(struct posts *r, size_t i, const struct inotify_event *e)
{
	const struct post p = r->posts[i];

	if (e->wd != p.wd)
		return false;
	if (e->mask & LOST) {
		if (e->mask & IN_MOVE_SELF) /* the watch would follow the moved directory */
			inotify_rm_watch(r->fd, p.wd);
		watch_file(r, i);
		return true;
	}
	if (p.len && !(e->len && strlen(e->name) == p.len && memcmp(e->name, p.name, p.len) == 0))
		return false;
	if (!p.whole)
		watch_file(r, i);
	return !p.whole || !(e->mask & IN_CREATE) || !p.len || is_whole_at_once(r->files[i]);
}

static bool concerns(struct posts *r, const struct inotify_event *e)
{
	bool found = false;

	for (size_t i = 0; i < FILES_MAX && r->files[i]; i++)
		found = concerns_file(r, i, e) || found;
	if (!(e->mask & IN_Q_OVERFLOW))
		return found;
	watch_files(r);
	return true;
}

bool posts_read(struct posts *r)
{
	char room[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool found = false;
	ssize_t n;

	while ((n = read(r->fd, room, sizeof(room))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(room + at);

			found = concerns(r, e) || found;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	return found;
}

struct posts *posts_open(char **files)
{
	struct posts *p = xcalloc(1, sizeof(*p));

	p->files = files;
	p->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (p->fd < 0) {
		posts_free(p);
		return NULL;
	}
	watch_files(p);
	return p;
}

int posts_fd(const struct posts *p)
{
	return p->fd;
}

/* Frees all but the descriptor, which is closed with the process, because closing it takes long. */
void posts_free(struct posts *p)
{
	if (!p)
		return;
	util_free_list(&p->files);
	free(p);
}
