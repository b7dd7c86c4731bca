/* order - the message in which the keeper tells the helper its task and its user. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/helper/order.h"

#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/io.h"

#define ORDER_MAX (32u << 20) /* ARG_MAX is 1 MiB */

enum list {
	LIST_TEXTS,
	LIST_PARAMS,
	LIST_ARGV,
	LIST_ENV,
	LISTS
};
enum text {
	TEXT_CWD,
	TEXT_PATH,
	TEXT_PROFILE,
	TEXT_WORD,
	TEXTS
};

/* Strings follow, each ending with NUL: those of the first list, of the second, ... */
struct head {
	char version[32];
	uint64_t len;
	uint32_t n[LISTS];
	int32_t nice;
	bool tty, by_program;
	struct human human;
	struct spawn_limits limits;
};

static uint32_t add_words(struct buf *b, char *const *list)
{
	uint32_t n = 0;

	for (; list && list[n]; n++)
		buf_add(b, list[n], strlen(list[n]) + 1);
	return n;
}

static void add_text(struct buf *b, const char *text)
{
	buf_add(b, text ? text : "", text ? strlen(text) + 1 : 1);
}

int order_send(int fd, const struct order *o)
{
	struct head h;
	AUTO_BUF struct buf words = BUF_INIT;
	int r;

	memset(&h, 0, sizeof(h));
	snprintf(h.version, sizeof(h.version), "%s", CORDON_VERSION);
	h.human = o->human;
	h.human.name = NULL;
	h.limits = o->limits;
	h.nice = o->nice;
	h.tty = o->tty;
	h.by_program = o->by_program;
	add_text(&words, o->cwd);
	add_text(&words, o->path);
	add_text(&words, o->profile);
	add_text(&words, o->word);
	h.n[LIST_TEXTS] = TEXTS;
	h.n[LIST_PARAMS] = add_words(&words, o->params);
	h.n[LIST_ARGV] = add_words(&words, o->argv);
	h.n[LIST_ENV] = add_words(&words, o->env);
	h.len = words.len;
	r = io_write_all(fd, &h, sizeof(h));
	return r < 0 ? r : io_write_all(fd, words.data, words.len);
}

/* Takes n strings. *at: the rest of the strings. Heap; NULL: there are fewer. */
static char **take_words(const char **at, const char *end, uint32_t n)
{
	char **list = xcalloc((size_t)n + 1, sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		if (*at >= end) {
			util_free_list(&list);
			return NULL;
		}
		list[i] = xstrdup(*at);
		*at += strlen(*at) + 1;
	}
	return list;
}

static int take_all(struct order *o, const struct head *h, const char *data)
{
	const char *at = data, *end = data + h->len;
	char **texts = h->n[LIST_TEXTS] == TEXTS ? take_words(&at, end, TEXTS) : NULL;

	if (!texts)
		return -EPROTO;
	o->cwd = texts[TEXT_CWD];
	o->path = texts[TEXT_PATH];
	o->profile = texts[TEXT_PROFILE];
	o->word = texts[TEXT_WORD];
	free(texts);
	o->params = take_words(&at, end, h->n[LIST_PARAMS]);
	o->argv = o->params ? take_words(&at, end, h->n[LIST_ARGV]) : NULL;
	o->env = o->argv ? take_words(&at, end, h->n[LIST_ENV]) : NULL;
	return o->env && at == end ? 0 : -EPROTO;
}

int order_receive(int fd, struct order *ret)
{
	struct order o = {0};
	AUTO_FREE char *data = NULL;
	struct head h;
	int r;

	if (io_read_full(fd, &h, sizeof(h)) != (ssize_t)sizeof(h))
		return -EPIPE;
	h.version[sizeof(h.version) - 1] = '\0';
	if (!str_eq(h.version, CORDON_VERSION) || !h.len || h.len > ORDER_MAX)
		return -EPROTO;
	for (size_t i = 0; i < LISTS; i++)
		if (h.n[i] > h.len)
			return -EPROTO;
	data = xcalloc(1, h.len + 1);
	if (io_read_full(fd, data, h.len) != (ssize_t)h.len)
		return -EPIPE;
	o.human = h.human;
	o.limits = h.limits;
	o.nice = h.nice;
	o.tty = h.tty;
	o.by_program = h.by_program;
	r = take_all(&o, &h, data);
	if (r < 0)
		order_done(&o);
	else
		*ret = o;
	return r;
}

void order_done(struct order *o)
{
	free(o->cwd);
	free(o->path);
	free(o->profile);
	free(o->word);
	util_free_list(&o->params);
	util_free_list(&o->argv);
	util_free_list(&o->env);
	*o = (struct order){0};
}
