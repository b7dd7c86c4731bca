/* dial_upstream - asks the upstream proxy of the user's network for a connection. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/linux/net/relay_priv.h"
#include "core/net/upstream.h"

/* Reads the answer's head, and no byte after it: the rest comes from the host, for the agent. */
static int take_head(int fd, int *ret_status)
{
	char head[UPSTREAM_HEAD_MAX];
	ssize_t n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	int len;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	len = upstream_answer(head, (size_t)n, ret_status);
	if (len <= 0)
		return len;
	return recv(fd, head, (size_t)len, MSG_DONTWAIT) == len ? 1 : -EBADMSG;
}

int dial_ask_upstream(int fd, const struct upstream *u, const struct net_target *t)
{
	AUTO_BUF struct buf text = BUF_INIT;

	upstream_request(u, t, &text);
	return send(fd, text.data, text.len, MSG_NOSIGNAL) == (ssize_t)text.len ? 0 : -ECONNRESET;
}

int dial_hear_upstream(int fd)
{
	int status = 0, r = take_head(fd, &status);

	if (r <= 0)
		return r;
	return status >= 200 && status < 300 ? 1 : status;
}
