/* usage - samples cpu, memory, processes and io of the sandbox once a second. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/session/session_priv.h"

#define USAGE_MAX_PROCESSES 512

struct usage {
	uint64_t ticks; /* user + system, clock ticks */
	uint64_t pages; /* resident */
};

/* Returns field n (from 1) of a /proc/PID/stat line; the name in parentheses may contain
 * anything. */
static const char *stat_field(const char *stat, int n)
{
	const char *p = strrchr(stat, ')');

	if (!p || n < 3)
		return NULL;
	for (p += 2; n > 3; n--) {
		p = strchr(p, ' ');
		if (!p)
			return NULL;
		p++;
	}
	return p;
}

/* Adds fields 14 utime, 15 stime and 24 rss (proc(5)). Returns false if there is no such
 * process. */
static bool add_process(int64_t pid, struct usage *u)
{
	AUTO_FREE char *name = xasprintf("/proc/%lld/stat", (long long)pid);
	AUTO_FREE char *stat = NULL;
	const char *utime, *stime, *rss;

	if (io_read_file(-1, name, 4096, &stat, NULL) < 0)
		return false;
	utime = stat_field(stat, 14);
	stime = stat_field(stat, 15);
	rss = stat_field(stat, 24);
	if (!utime || !stime || !rss)
		return false;
	u->ticks += strtoull(utime, NULL, 10) + strtoull(stime, NULL, 10);
	u->pages += strtoull(rss, NULL, 10);
	return true;
}

/* Appends the children of pid to the queue, from /proc/PID/task/TID/children (proc(5)). */
static size_t add_children(int64_t pid, int64_t *queue, size_t n)
{
	AUTO_FREE char *name =
		xasprintf("/proc/%lld/task/%lld/children", (long long)pid, (long long)pid);
	AUTO_FREE char *list = NULL;
	char *p;

	if (io_read_file(-1, name, 65536, &list, NULL) < 0)
		return n;
	for (p = list; *p && n < USAGE_MAX_PROCESSES;) {
		char *end;
		int64_t child = strtoll(p, &end, 10);

		if (end == p)
			break;
		queue[n++] = child;
		p = end;
		while (*p == ' ')
			p++;
	}
	return n;
}

/* Reads "rchar: 1\nwchar: 2" (proc(5)). An unreadable file counts as 0. */
static struct io_seen read_io(int64_t pid)
{
	AUTO_FREE char *name = xasprintf("/proc/%lld/io", (long long)pid);
	AUTO_FREE char *text = NULL;
	struct io_seen io = {.pid = pid};

	if (io_read_file(-1, name, 4096, &text, NULL) < 0 || !str_starts(text, "rchar: "))
		return io;
	io.read = strtoull(text + strlen("rchar: "), NULL, 10);
	if (strstr(text, "wchar: "))
		io.written = strtoull(strstr(text, "wchar: ") + strlen("wchar: "), NULL, 10);
	return io;
}

static int by_pid(const void *a, const void *b)
{
	const struct io_seen *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Adds io since the last sample; a new process counts from its start. */
static void sample_io(struct session *s, const int64_t *pids, size_t n, struct usage_sample *ret)
{
	struct io_seen *now = xcalloc(n + 1, sizeof(*now));

	for (size_t i = 0; i < n; i++) {
		const struct io_seen *was;

		now[i] = read_io(pids[i]);
		was = s->n_io_seen
			      ? bsearch(&now[i], s->io_seen, s->n_io_seen, sizeof(*now), by_pid)
			      : NULL;
		if (was && (was->read > now[i].read || was->written > now[i].written))
			was = NULL; /* the pid has been reused */
		ret->read += now[i].read - (was ? was->read : 0);
		ret->written += now[i].written - (was ? was->written : 0);
	}
	qsort(now, n, sizeof(*now), by_pid);
	free(s->io_seen);
	s->io_seen = now;
	s->n_io_seen = n;
}

void session_sample_usage(struct session *s)
{
	int64_t queue[USAGE_MAX_PROCESSES], now = clock_mono_us();
	struct usage_sample sample = {0};
	struct usage u = {0};
	size_t n;

	if (s->keeper <= 0 || s->gone)
		return;
	/* The agent is a child of the keeper. Orphans belong to the sandbox's pid 1, another
	 * child. */
	n = add_children(s->keeper, queue, 0);
	for (size_t i = 0; i < n; i++) {
		if (add_process(queue[i], &u))
			n = add_children(queue[i], queue, n);
	}
	sample.processes = (unsigned)n;
	sample.memory = u.pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (s->cpu_at_us && u.ticks >= s->cpu_ticks && now > s->cpu_at_us)
		sample.cpu = 100.0 * 1e6 * (double)(u.ticks - s->cpu_ticks) /
			     (double)sysconf(_SC_CLK_TCK) / (double)(now - s->cpu_at_us);
	sample_io(s, queue, n, &sample);
	s->cpu_ticks = u.ticks;
	s->cpu_at_us = now;
	model_add_sample(&s->model, &sample);
}
