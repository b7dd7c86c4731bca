/* notes - messages of one size between the keeper and its network processes. */
/* SPDX-License-Identifier: MIT */
#include "core/net/notes.h"

#include <errno.h>
#include <sys/socket.h>

int notes_take(int sock, void *note, size_t size)
{
	ssize_t n;

	do
		n = recv(sock, note, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	return n == (ssize_t)size ? 1 : -EPIPE;
}
