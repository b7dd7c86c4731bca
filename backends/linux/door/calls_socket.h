/* calls_socket - the addresses of sockets, and bind of AF_UNIX names. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(prepare_datagram);
HANDLER(prepare_pair);
HANDLER(prepare_bind);
HANDLER(perform_bind);

int socket_address(struct ldoor *d, struct request *r); /* into SLOT_EXTRA; 0 or negative */
/* An AF_UNIX address with a name in the file system: that becomes SLOT_PATH. */
bool socket_pathname(struct request *r);
int socket_family(int sock, int *family);
