/* port_server - gives out ports of the session's window, and writes them into its port map. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

struct keeper;

/*
 * Where system calls are not trapped, the preload library asks for a port before a program binds
 * one that has no entry in the map: it connects to a socket here, sends the port (two bytes, native
 * byte order) and reads a byte, 0 or an errno. Before the answer the server writes the port's
 * entry.
 *
 * Programs inside may change the socket and the map. A program that does so only loses its ports:
 * the library takes no port outside the window that the map names, and the profile lets no port be
 * bound outside the real window. The server reads nothing of the map back but a counter.
 *
 * Life:    port_server_start() -> port_server_stop().
 * Threads: the keeper's one; nothing blocks.
 * Bounds:  PORT_ASKERS at a time, then the oldest is dropped; a port is given out once a session.
 */
#define PORT_ASKERS 32

struct port_server;

struct port_server_spec {
	struct keeper *k;
	const char *dir; /* the session's own; exists */
	uint16_t base, count;
	/* A port was given out. pid: the asking process, from the kernel; 0: unknown. May be
	 * NULL. */
	void (*given)(void *data, pid_t pid, uint16_t named, uint16_t to);
	void *data;
};

int port_server_start(struct port_server **ret, const struct port_server_spec *spec,
		      struct err *err) MUST_USE;
/* NAME=VALUE for the agent's environment, PORT_SERVER_SETTINGS of them; borrowed. */
#define PORT_SERVER_SETTINGS 2
const char *const *port_server_env(const struct port_server *s);
void port_server_stop(struct port_server *s); /* NULL is a no-op */
