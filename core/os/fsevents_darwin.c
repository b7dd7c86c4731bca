/* fsevents_darwin - a stream of FSEvents behind a pipe. */
/* SPDX-License-Identifier: MIT */
#include "core/os/fsevents.h"

#include <CoreServices/CoreServices.h>
#include <dispatch/dispatch.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATENCY 0.05 /* seconds; the events of one save come together */

struct os_fs_stream {
	FSEventStreamRef stream;
	dispatch_queue_t queue;
	int pipe[2];
	pthread_mutex_t lock;
	struct os_fs_event *list;
	size_t n, cap;
	bool lost; /* since the last read */
};

/* Adds an event, under the lock. Without memory it counts as lost. */
static void add(struct os_fs_stream *s, const char *path, uint32_t flags, uint64_t id)
{
	char *copy = s->n < OS_FS_EVENTS_MAX ? strdup(path) : NULL;

	if (copy && s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct os_fs_event *more = realloc(s->list, cap * sizeof(*more));

		if (more) {
			s->list = more;
			s->cap = cap;
		}
	}
	if (!copy || s->n == s->cap) {
		free(copy);
		s->lost = true;
		return;
	}
	s->list[s->n++] = (struct os_fs_event){.path = copy, .flags = flags, .id = id};
}

static void on_events(ConstFSEventStreamRef stream, void *data, size_t n, void *paths,
		      const FSEventStreamEventFlags *flags, const FSEventStreamEventId *ids)
{
	struct os_fs_stream *s = data;
	char *const *list = paths;
	bool was_empty;

	(void)stream;
	pthread_mutex_lock(&s->lock);
	was_empty = !s->n && !s->lost;
	for (size_t i = 0; i < n; i++)
		add(s, list[i], flags[i], ids[i]);
	if (was_empty)
		(void)!write(s->pipe[1], "", 1);
	pthread_mutex_unlock(&s->lock);
}

static FSEventStreamRef make(struct os_fs_stream *s, const char *const *dirs, size_t n)
{
	CFMutableArrayRef list = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
	FSEventStreamContext context = {.info = s};
	FSEventStreamRef stream = NULL;
	bool whole = list;

	for (size_t i = 0; whole && i < n; i++) {
		CFStringRef dir = CFStringCreateWithFileSystemRepresentation(NULL, dirs[i]);

		whole = dir;
		if (dir) {
			CFArrayAppendValue(list, dir);
			CFRelease(dir);
		}
	}
	if (whole)
		stream = FSEventStreamCreate(
			NULL, on_events, &context, list, kFSEventStreamEventIdSinceNow, LATENCY,
			kFSEventStreamCreateFlagNoDefer | kFSEventStreamCreateFlagWatchRoot |
				kFSEventStreamCreateFlagFileEvents |
				kFSEventStreamCreateFlagMarkSelf);
	if (list)
		CFRelease(list);
	return stream;
}

int os_fs_stream_open(struct os_fs_stream **ret, const char *const *dirs, size_t n)
{
	struct os_fs_stream *s = calloc(1, sizeof(*s));
	int r = -EIO;

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->pipe[0] = s->pipe[1] = -1;
	if (pipe(s->pipe) < 0) {
		r = -errno;
		os_fs_stream_close(s);
		return r;
	}
	for (int i = 0; i < 2; i++) {
		fcntl(s->pipe[i], F_SETFD, FD_CLOEXEC);
		fcntl(s->pipe[i], F_SETFL, O_NONBLOCK);
	}
	s->queue = dispatch_queue_create("cordon.fsevents", NULL);
	s->stream = make(s, dirs, n);
	if (s->stream) {
		FSEventStreamSetDispatchQueue(s->stream, s->queue);
		r = FSEventStreamStart(s->stream) ? 0 : -EIO;
	}
	if (r < 0) {
		os_fs_stream_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

int os_fs_stream_fd(const struct os_fs_stream *s)
{
	return s->pipe[0];
}

void os_fs_stream_flush(struct os_fs_stream *s)
{
	FSEventStreamFlushSync(s->stream);
}

size_t os_fs_stream_read(struct os_fs_stream *s, struct os_fs_event *list, size_t n)
{
	char drop[8];
	size_t have = 0;

	pthread_mutex_lock(&s->lock);
	if (s->lost && n) {
		list[have++] =
			(struct os_fs_event){strdup("/"), FSE_MUST_SCAN | FSE_USER_DROPPED, 0};
		s->lost = false;
	}
	while (have < n && s->n) {
		size_t take = s->n < n - have ? s->n : n - have;

		memcpy(list + have, s->list, take * sizeof(*list));
		memmove(s->list, s->list + take, (s->n - take) * sizeof(*list));
		s->n -= take;
		have += take;
	}
	if (!s->n && !s->lost)
		while (read(s->pipe[0], drop, sizeof(drop)) > 0)
			;
	pthread_mutex_unlock(&s->lock);
	return have;
}

/* Does nothing: os_fs_stream_close() waits until the queue has called it, so that no event is in
 * progress. */
static void nothing(void *data)
{
	(void)data;
}

void os_fs_stream_close(struct os_fs_stream *s)
{
	if (!s)
		return;
	if (s->stream) {
		FSEventStreamStop(s->stream);
		FSEventStreamInvalidate(s->stream);
		FSEventStreamRelease(s->stream);
	}
	if (s->queue) {
		dispatch_sync_f(s->queue, NULL, nothing);
		dispatch_release(s->queue);
	}
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].path);
	free(s->list);
	for (int i = 0; i < 2; i++)
		if (s->pipe[i] >= 0)
			close(s->pipe[i]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
