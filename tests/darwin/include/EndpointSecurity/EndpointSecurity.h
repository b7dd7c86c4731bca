/* EndpointSecurity - the names and types of the SDK's header that we use, for systems without
 * it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <mach/message.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>

/* Enough to compile and link. The order of members, the numbers of enums and the omissions differ
 * from the SDK: a program built with this runs nowhere. */
typedef struct es_client_s es_client_t;

typedef struct {
	size_t length;
	const char *data;
} es_string_token_t;

typedef struct {
	es_string_token_t path;
	bool path_truncated;
	struct stat stat;
} es_file_t;

typedef struct {
	audit_token_t audit_token, parent_audit_token, responsible_audit_token;
	struct timeval start_time;
	es_file_t *executable;
} es_process_t;

typedef enum {
	ES_EVENT_TYPE_AUTH_EXEC,
	ES_EVENT_TYPE_AUTH_OPEN,
	ES_EVENT_TYPE_AUTH_SIGNAL,
	ES_EVENT_TYPE_AUTH_GET_TASK,
	ES_EVENT_TYPE_AUTH_UNLINK,
	ES_EVENT_TYPE_AUTH_RENAME,
	ES_EVENT_TYPE_AUTH_CREATE,
	ES_EVENT_TYPE_AUTH_TRUNCATE,
	ES_EVENT_TYPE_AUTH_LINK,
	ES_EVENT_TYPE_AUTH_CLONE,
	ES_EVENT_TYPE_AUTH_EXCHANGEDATA,
	ES_EVENT_TYPE_AUTH_SETMODE,
	ES_EVENT_TYPE_AUTH_SETOWNER,
	ES_EVENT_TYPE_AUTH_SETFLAGS,
	ES_EVENT_TYPE_AUTH_UTIMES,
	ES_EVENT_TYPE_AUTH_SETEXTATTR,
	ES_EVENT_TYPE_AUTH_DELETEEXTATTR,
	ES_EVENT_TYPE_AUTH_SETATTRLIST,
	ES_EVENT_TYPE_AUTH_SETACL,
	ES_EVENT_TYPE_AUTH_COPYFILE,
	ES_EVENT_TYPE_AUTH_UIPC_BIND,
	ES_EVENT_TYPE_AUTH_PROC_SUSPEND_RESUME,
	ES_EVENT_TYPE_AUTH_GET_TASK_READ,
	ES_EVENT_TYPE_AUTH_MOUNT,
	ES_EVENT_TYPE_AUTH_REMOUNT,
	ES_EVENT_TYPE_NOTIFY_CREATE,
	ES_EVENT_TYPE_NOTIFY_RENAME,
	ES_EVENT_TYPE_NOTIFY_FORK,
	ES_EVENT_TYPE_NOTIFY_EXIT,
	ES_EVENT_TYPE_NOTIFY_XPC_CONNECT,
} es_event_type_t;

typedef enum {
	ES_ACTION_TYPE_AUTH,
	ES_ACTION_TYPE_NOTIFY,
} es_action_type_t;

typedef enum {
	ES_DESTINATION_TYPE_EXISTING_FILE,
	ES_DESTINATION_TYPE_NEW_PATH,
} es_destination_type_t;

typedef struct {
	es_process_t *target;
} es_event_exec_t, es_event_get_task_t, es_event_get_task_read_t, es_event_proc_suspend_resume_t;

typedef struct {
	int32_t fflag;
	es_file_t *file;
} es_event_open_t;

typedef struct {
	int sig;
	es_process_t *target;
} es_event_signal_t;

typedef struct {
	es_file_t *target, *parent_dir;
} es_event_unlink_t;

typedef struct {
	es_file_t *source;
	es_destination_type_t destination_type;
	union {
		es_file_t *existing_file;
		struct {
			es_file_t *dir;
			es_string_token_t filename;
		} new_path;
	} destination;
} es_event_rename_t;

typedef struct {
	es_destination_type_t destination_type;
	union {
		es_file_t *existing_file;
		struct {
			es_file_t *dir;
			es_string_token_t filename;
			mode_t mode;
		} new_path;
	} destination;
} es_event_create_t;

typedef struct {
	es_file_t *source, *target_dir;
	es_string_token_t target_filename;
} es_event_link_t;

typedef struct {
	es_file_t *source, *target_dir;
	es_string_token_t target_name;
} es_event_clone_t;

typedef struct {
	es_file_t *file1, *file2;
} es_event_exchangedata_t;

typedef struct {
	es_file_t *target;
} es_event_truncate_t, es_event_setmode_t, es_event_setowner_t, es_event_setflags_t,
	es_event_utimes_t, es_event_setextattr_t, es_event_deleteextattr_t, es_event_setattrlist_t,
	es_event_setacl_t;

typedef struct {
	es_file_t *source, *target_file, *target_dir; /* target_file may be NULL */
	es_string_token_t target_name;
} es_event_copyfile_t;

typedef struct {
	es_file_t *dir;
	es_string_token_t filename;
	mode_t mode;
} es_event_uipc_bind_t;

typedef struct {
	struct statfs *statfs;
} es_event_mount_t, es_event_remount_t;

typedef struct {
	es_process_t *child;
} es_event_fork_t;

typedef struct {
	es_string_token_t service_name;
} es_event_xpc_connect_t;

typedef union {
	es_event_exec_t exec;
	es_event_open_t open;
	es_event_signal_t signal;
	es_event_get_task_t get_task;
	es_event_unlink_t unlink;
	es_event_rename_t rename;
	es_event_create_t create;
	es_event_truncate_t truncate;
	es_event_link_t link;
	es_event_clone_t clone;
	es_event_exchangedata_t exchangedata;
	es_event_setmode_t setmode;
	es_event_setowner_t setowner;
	es_event_setflags_t setflags;
	es_event_utimes_t utimes;
	es_event_setextattr_t setextattr;
	es_event_deleteextattr_t deleteextattr;
	es_event_setattrlist_t setattrlist;
	es_event_setacl_t setacl;
	es_event_copyfile_t copyfile;
	es_event_uipc_bind_t uipc_bind;
	es_event_proc_suspend_resume_t proc_suspend_resume;
	es_event_get_task_read_t get_task_read;
	es_event_mount_t mount;
	es_event_remount_t remount;
	es_event_fork_t fork;
	es_event_xpc_connect_t *xpc_connect;
} es_events_t;

typedef struct {
	uint32_t version;
	uint64_t mach_time, deadline, seq_num, global_seq_num;
	es_process_t *process;
	es_action_type_t action_type;
	es_event_type_t event_type;
	es_events_t event;
} es_message_t;

typedef enum {
	ES_RETURN_SUCCESS,
	ES_RETURN_ERROR,
} es_return_t;

typedef enum {
	ES_RESPOND_RESULT_SUCCESS,
	ES_RESPOND_RESULT_ERR_INVALID_ARGUMENT,
} es_respond_result_t;

typedef enum {
	ES_NEW_CLIENT_RESULT_SUCCESS,
	ES_NEW_CLIENT_RESULT_ERR_INVALID_ARGUMENT,
	ES_NEW_CLIENT_RESULT_ERR_INTERNAL,
	ES_NEW_CLIENT_RESULT_ERR_NOT_ENTITLED,
	ES_NEW_CLIENT_RESULT_ERR_NOT_PERMITTED,
	ES_NEW_CLIENT_RESULT_ERR_NOT_PRIVILEGED,
	ES_NEW_CLIENT_RESULT_ERR_TOO_MANY_CLIENTS,
} es_new_client_result_t;

typedef enum {
	ES_AUTH_RESULT_ALLOW,
	ES_AUTH_RESULT_DENY,
} es_auth_result_t;

typedef void (^es_handler_block_t)(es_client_t *, const es_message_t *);

es_new_client_result_t es_new_client(es_client_t **client, es_handler_block_t handler);
es_return_t es_delete_client(es_client_t *client);
es_return_t es_mute_process(es_client_t *client, const audit_token_t *audit_token);
es_return_t es_subscribe(es_client_t *client, const es_event_type_t *events, uint32_t count);
es_respond_result_t es_respond_auth_result(es_client_t *client, const es_message_t *message,
					   es_auth_result_t result, bool cache);
es_respond_result_t es_respond_flags_result(es_client_t *client, const es_message_t *message,
					    uint32_t authorized_flags, bool cache);
void es_retain_message(const es_message_t *message);
void es_release_message(const es_message_t *message);
uint32_t es_exec_arg_count(const es_event_exec_t *event);
es_string_token_t es_exec_arg(const es_event_exec_t *event, uint32_t index);
