/* es_events - the events of Endpoint Security that are subscribed to, and the kind of each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * X(EVENT, KIND, SINCE): ES_EVENT_TYPE_EVENT is a message of KIND; macOS has it since SINCE (1015
 * is 10.15; as mac_version()). If an event newer than ES_EVENTS_NEEDED is missing, the session goes
 * on, and says so.
 *
 * Events that are not subscribed to, and why:
 *
 *   MMAP, MPROTECT, FCNTL         their descriptor's open was judged
 *   GETATTRLIST, GETEXTATTR, LISTEXTATTR, READLINK, READDIR, CHDIR, FSGETPATH, SEARCHFS,
 *   ACCESS, STAT, LOOKUP          reads, which the profile decides without a question (es_door.h)
 *   UIPC_CONNECT                  the profile decides, by rules that name sockets
 *   PROC_CHECK, GET_TASK_NAME     the profile allows them within the same sandbox alone
 *   IOKIT_OPEN, KEXTLOAD, SETTIME, CHROOT     no profile allows them
 *   FILE_PROVIDER_MATERIALIZE, FILE_PROVIDER_UPDATE    come from daemons outside
 */
#define ES_EVENTS_NEEDED 1300 /* events up to this version: one subscription, all or none */
#define ES_EVENTS(X)                                                                               \
	X(NOTIFY_FORK, ES_FORK, 1015)                                                              \
	X(NOTIFY_EXIT, ES_EXIT, 1015)                                                              \
	X(NOTIFY_CREATE, ES_CREATED, 1015)                                                         \
	X(NOTIFY_RENAME, ES_RENAMED, 1015)                                                         \
	X(AUTH_EXEC, ES_EXEC, 1015)                                                                \
	X(AUTH_OPEN, ES_OPEN, 1015)                                                                \
	X(AUTH_SIGNAL, ES_SIGNAL, 1015)                                                            \
	X(AUTH_PROC_SUSPEND_RESUME, ES_SIGNAL, 1100)                                               \
	X(AUTH_GET_TASK, ES_GET_TASK, 1015)                                                        \
	X(AUTH_GET_TASK_READ, ES_GET_TASK, 1103)                                                   \
	X(AUTH_UNLINK, ES_UNLINK, 1015)                                                            \
	X(AUTH_RENAME, ES_RENAME, 1015)                                                            \
	X(AUTH_CREATE, ES_CREATE, 1015)                                                            \
	X(AUTH_UIPC_BIND, ES_CREATE, 1015) /* a socket */                                          \
	X(AUTH_TRUNCATE, ES_TRUNCATE, 1015)                                                        \
	X(AUTH_LINK, ES_LINK, 1015)                                                                \
	X(AUTH_CLONE, ES_CLONE, 1015)                                                              \
	X(AUTH_COPYFILE, ES_CLONE, 1200) /* onto an existing file, too */                          \
	X(AUTH_EXCHANGEDATA, ES_SWAP, 1015)                                                        \
	X(AUTH_SETMODE, ES_META, 1015)                                                             \
	X(AUTH_SETOWNER, ES_META, 1015)                                                            \
	X(AUTH_SETFLAGS, ES_META, 1015)                                                            \
	X(AUTH_SETACL, ES_META, 1015)                                                              \
	X(AUTH_UTIMES, ES_META, 1015)                                                              \
	X(AUTH_SETEXTATTR, ES_META, 1015)                                                          \
	X(AUTH_DELETEEXTATTR, ES_META, 1015)                                                       \
	X(AUTH_SETATTRLIST, ES_META, 1015)                                                         \
	X(AUTH_MOUNT, ES_MOUNT, 1015)                                                              \
	X(AUTH_REMOUNT, ES_MOUNT, 1100)                                                            \
	X(NOTIFY_XPC_CONNECT, ES_XPC_CONNECT, 1400)
