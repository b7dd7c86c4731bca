/* calls_socket - copies addresses of sockets; bind of AF_UNIX names. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(prepare_datagram);
HANDLER(prepare_pair);
HANDLER(prepare_bind);
HANDLER(perform_bind);

int socket_address(struct ldoor *d, struct request *r); /* into SLOT_EXTRA; 0 or negative */
/* Returns whether the address names a file; copies the name to SLOT_PATH. */
bool socket_pathname(struct request *r);
int socket_family(int sock, int *family);
