/* kept_answers - keeps a session's answers over a restart of the agent. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/kept_answers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/util.h"

#define VARIABLE "CORDON_KEPT_ANSWERS"
#define FILE_MAX (1u << 20)

struct kept_answers {
	int file; /* for the next program; -1: could not be made */
	size_t n;
	struct one {
		enum rule_kind kind;
		struct answer answer;
		char *object;
	} list[KEPT_MAX];
};

/* Returns whether it is a file that the former program left: it has no name. */
static bool is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
	       st.st_uid == geteuid() && st.st_size < FILE_MAX;
}

static bool parse(char *line, struct one *ret)
{
	unsigned kind, allow, extent;
	long long until;
	int used = 0;

	if (sscanf(line, "%u %u %u %lld %n", &kind, &allow, &extent, &until, &used) != 4 || !used ||
	    kind >= RULE_KINDS || extent > EXTENT_BUNDLE)
		return false;
	*ret = (struct one){.kind = kind,
			    .answer = {.allow = allow != 0,
				       .scope = SCOPE_SESSION,
				       .extent = extent,
				       .until = until},
			    .object = xstrdup(line + used)};
	return true;
}

static void read_those_before(struct kept_answers *k)
{
	const char *number = getenv(VARIABLE);
	AUTO_CLOSE int fd = number ? (int)strtol(number, NULL, 10) : -1;
	AUTO_FREE char *text = NULL;
	struct stat st;
	ssize_t len;

	unsetenv(VARIABLE);
	if (fd <= STDERR_FILENO || !is_ours(fd) || fstat(fd, &st) < 0) {
		fd = -1; /* not ours: it stays open */
		return;
	}
	text = xcalloc(1, (size_t)st.st_size + 1);
	len = pread(fd, text, (size_t)st.st_size, 0);
	for (ssize_t at = 0; at < len && k->n < KEPT_MAX; at += (ssize_t)strlen(text + at) + 1)
		k->n += parse(text + at, &k->list[k->n]);
}

static int open_unlinked(void)
{
	FILE *f = tmpfile();
	int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

	if (f)
		fclose(f);
	return fd;
}

struct kept_answers *kept_answers_open(void)
{
	struct kept_answers *k = xcalloc(1, sizeof(*k));

	read_those_before(k);
	k->file = open_unlinked();
	return k;
}

void kept_answers_free(struct kept_answers *k)
{
	for (size_t i = 0; k && i < k->n; i++)
		free(k->list[i].object);
	if (k && k->file >= 0)
		close(k->file);
	free(k);
}

/* Returns whether the kept answer is about the same object, at any number of directories up. */
static bool is_about(const struct one *one, const struct ask *ask, struct answer *ret)
{
	*ret = one->answer;
	if (one->kind != ask->kind || ask->held)
		return false;
	if (ret->extent == EXTENT_BUNDLE)
		return ask->bundle && str_eq(ask->bundle, one->object);
	for (; ret->up <= (ret->extent == EXTENT_TREE ? ask->up : 0); ret->up++) {
		AUTO_FREE char *object = answer_object(ask->path, ask->is_dir, ret);

		if (str_eq(object, one->object))
			return true;
	}
	return false;
}

bool kept_answers_find(const struct kept_answers *k, const struct ask *ask, struct answer *ret)
{
	int64_t now = clock_expiry_s();

	for (size_t i = k->n; i > 0; i--) /* the newest answer counts */
		if (is_about(&k->list[i - 1], ask, ret))
			return !ret->until || ret->until > now;
	return false;
}

void kept_answers_write(const struct kept_answers *k, const struct model *m)
{
	if (k->file < 0)
		return;
	for (size_t i = m->n_given > KEPT_MAX ? m->n_given - KEPT_MAX : 0; i < m->n_given; i++) {
		const struct given *g = &m->given[i];

		if (g->answer.scope == SCOPE_SESSION && !g->over)
			dprintf(k->file, "%u %u %u %lld %s%c", g->kind, g->answer.allow,
				g->answer.extent, (long long)g->answer.until, g->object, '\0');
	}
}

void kept_answers_leave(const struct kept_answers *k)
{
	char number[16];

	if (k->file < 0 || fcntl(k->file, F_SETFD, 0) < 0)
		return;
	snprintf(number, sizeof(number), "%d", k->file);
	setenv(VARIABLE, number, 1);
}
