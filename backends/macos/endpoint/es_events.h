/* es_events - which events of Endpoint Security are asked for, and what each is here. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * X(EVENT, KIND, SINCE): ES_EVENT_TYPE_EVENT is a message of KIND; macOS has it since SINCE (1015
 * is 10.15; as mac_version()). Without one that is newer than ES_EVENTS_NEEDED the session goes on,
 * and says so.
 *
 * What is not here, and why:
 *
 *   MMAP, MPROTECT, FCNTL         of a descriptor whose opening was judged
 *   GETATTRLIST, GETEXTATTR, LISTEXTATTR, READLINK, READDIR, CHDIR, FSGETPATH, SEARCHFS, ACCESS,
 * STAT, LOOKUP                        reading: the profile's, which is not asked (es_door.h)
 *   UIPC_CONNECT                  the profile's: sockets that a rule names
 *   PROC_CHECK, GET_TASK_NAME     the profile's: of the same sandbox alone
 *   IOKIT_OPEN, KEXTLOAD, SETTIME, CHROOT     nothing of a profile allows them
 *   FILE_PROVIDER_MATERIALIZE, FILE_PROVIDER_UPDATE    of daemons outside
 */
#define ES_EVENTS_NEEDED 1300 /* what is asked for at once; it fails as a whole */
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
	X(AUTH_COPYFILE, ES_CLONE, 1200) /* onto a file that is there, too */                      \
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
