/* action - everything the user can do: one list for keymaps, help, hints and the manual. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* id, name in keymap files, GENERAL if the console handles it in every view (LOCAL: the view
 * handles it), label in the hints bar, sentence in the help */
#define ACTIONS(X)                                                                                 \
	X(HELP, "help", GENERAL, "help", "Show every key for this pane")                           \
	X(DESCRIBE, "describe", LOCAL, "describe a key", "Say what the next key does")             \
	X(PALETTE, "palette", GENERAL, "palette", "Find an action by its words, and do it")        \
	X(QUIT, "quit", GENERAL, "quit", "Leave (asks first where that may end the agent)")        \
	X(RESTART, "restart", GENERAL, "restart", "Start the agent anew, with the same options")   \
	X(NOTE, "note", LOCAL, "note", "Write why, for the agent; then deny")                      \
	X(PASTE_NOTE, "paste-note", GENERAL, "paste note",                                         \
	  "Paste your note, or what you undid or denied, into the agent's prompt")                 \
	X(SHELL, "shell", GENERAL, "your shell", "Open a shell of yours beside the agent")         \
	X(FOCUS_TERMINAL, "focus-terminal", GENERAL, "agent", "Go to the agent's terminal")        \
	X(FOCUS_AUDIT, "focus-audit", GENERAL, "activity",                                         \
	  "Go to the list of what the agent touches")                                              \
	X(FOCUS_STEPS, "focus-steps", GENERAL, "steps", "Go to the list of steps")                 \
	X(FOCUS_APPROVALS, "focus-approvals", GENERAL, "answer",                                   \
	  "List the requests that wait for an answer")                                             \
	X(SHOW_RULES, "show-rules", GENERAL, "your answers",                                       \
	  "List the answers that still count, to take one back")                                   \
	X(SHOW_CONNECTIONS, "show-connections", GENERAL, "connections",                            \
	  "List the agent's connections, open and closed")                                         \
	X(SHOW_REVIEW, "show-review", GENERAL, "review",                                           \
	  "Review the changes of this turn: keep, take back, comment")                             \
	X(KEEP_HUNK, "keep-hunk", LOCAL, "keep", "Keep this piece, or file: it folds away")        \
	X(KEEP_ALL, "keep-all", LOCAL, "keep all", "Keep every piece that is not decided")         \
	X(TAKE_BACK, "take-back", LOCAL, "take back",                                              \
	  "Take this piece, or file, back; when the agent rests, if its hook tells")               \
	X(TAKE_BACK_NOW, "take-back-now", LOCAL, "at once", "Take it back though the agent works") \
	X(BRING_BACK, "bring-back", LOCAL, "bring back",                                           \
	  "Bring back a piece that was taken back; open a comment that is done again")             \
	X(COMMENT, "comment", LOCAL, "comment", "Write a comment about this line, for the agent")  \
	X(SEND_REVIEW, "send-review", LOCAL, "send",                                               \
	  "Show the message for the agent; pressed again, paste it into the prompt")               \
	X(COMMIT_KEPT, "commit-kept", LOCAL, "commit",                                             \
	  "Commit what you kept, by your git; it is shown first")                                  \
	X(REVIEW_SCOPE, "review-scope", LOCAL, "all or turn",                                      \
	  "Review all since the session began, or the turn")                                       \
	X(SHOW_LOG, "show-log", GENERAL, "log", "List cordon's messages of this session")          \
	X(SHOW_RESOURCES, "show-resources", GENERAL, "resources",                                  \
	  "Show cpu, memory, processes and io of the session")                                     \
	X(SHOW_THEMES, "show-themes", GENERAL, "themes", "Choose the colours; each is shown")      \
	X(SHOW_SESSIONS, "show-sessions", GENERAL, "sessions",                                     \
	  "List all sessions and their requests; answer, go there, end one")                       \
	X(SHOW_RECORDINGS, "show-recordings", GENERAL, "recordings",                               \
	  "List the recorded sessions; play one")                                                  \
	X(NEW_SESSION, "new-session", LOCAL, "new", "Start another session")                       \
	X(REPLAY_SESSION, "replay-session", LOCAL, "replay", "Show the recording of this session") \
	X(SEND_PREFIX, "send-prefix", LOCAL, "send prefix",                                        \
	  "Send the prefix key itself to the agent")                                               \
	X(SCROLL, "scroll", GENERAL, "scroll back", "Scroll back in the agent's terminal")         \
	X(CLIPBOARD, "clipboard", LOCAL, "let it copy",                                            \
	  "Let the agent put its text into your clipboard")                                        \
	X(SELECT, "select", LOCAL, "select", "Select from here on, or no longer")                  \
	X(SELECT_LINES, "select-lines", LOCAL, "select lines", "Select whole lines")               \
	X(SELECT_BLOCK, "select-block", LOCAL, "select block", "Select a rectangle")               \
	X(COPY, "copy", LOCAL, "copy",                                                             \
	  "Copy the selection: path, command or line; in a diff, the hunk")                        \
	X(WORD_NEXT, "word-next", LOCAL, "next word", "To the next word")                          \
	X(WORD_END, "word-end", LOCAL, "end of word", "To the end of the word")                    \
	X(WORD_PREV, "word-prev", LOCAL, "previous word", "To the previous word")                  \
	X(LINE_START, "line-start", LOCAL, "start of line", "To the first column")                 \
	X(LINE_TEXT, "line-text", LOCAL, "start of text", "To the first character of the line")    \
	X(LINE_END, "line-end", LOCAL, "end of line", "To the last character of the line")         \
	X(UP, "up", LOCAL, "up", "One line up")                                                    \
	X(DOWN, "down", LOCAL, "down", "One line down")                                            \
	X(PAGE_UP, "page-up", LOCAL, "page up", "One page up")                                     \
	X(PAGE_DOWN, "page-down", LOCAL, "page", "One page down")                                  \
	X(TOP, "top", LOCAL, "top", "To the first line")                                           \
	X(BOTTOM, "bottom", LOCAL, "bottom", "To the last line, and follow what comes")            \
	X(LEFT, "left", LOCAL, "left", "Scroll left")                                              \
	X(RIGHT, "right", LOCAL, "right", "Scroll right")                                          \
	X(OPEN, "open", LOCAL, "open", "Open the selected row")                                    \
	X(BACK, "back", GENERAL, "back", "Back: close what is on top, or clear the filter")        \
	X(SEARCH, "search", LOCAL, "search", "Search; the list moves while you type")              \
	X(SEARCH_NEXT, "search-next", LOCAL, "next match", "Next match")                           \
	X(SEARCH_PREV, "search-prev", LOCAL, "previous match", "Previous match")                   \
	X(FILTER, "filter", LOCAL, "filter", "Show only lines with these words; !word leaves out") \
	X(LEVEL, "level", LOCAL, "level",                                                          \
	  "How much is listed: without git's own, the project's, decisions, all")                  \
	X(DETAILS, "details", LOCAL, "details", "Show all facts about this row")                   \
	X(UNDO, "undo", GENERAL, "undo", "Roll the files back to before the selected step")        \
	X(UNDO_TURN, "undo-turn", LOCAL, "undo turn",                                              \
	  "Roll back all changes since your last prompt to the agent")                             \
	X(STEP_ALONE, "step-alone", LOCAL, "this step alone",                                      \
	  "Undo the selected step alone, as a new step: newer steps stay")                         \
	X(FORK, "fork", LOCAL, "fork",                                                             \
	  "Start an agent in a git worktree whose files are as after this step")                   \
	X(REDO, "redo", GENERAL, "redo", "Redo: bring back the steps of the last undo")            \
	X(RESTORE, "restore", LOCAL, "restore",                                                    \
	  "Bring this file or directory back as it was before the step")                           \
	X(RESTORE_HUNK, "restore-hunk", LOCAL, "restore hunk",                                     \
	  "Bring this hunk alone back as it was before the step, as a step")                       \
	X(NEXT_HUNK, "next-hunk", LOCAL, "hunk", "Next hunk")                                      \
	X(PREV_HUNK, "prev-hunk", LOCAL, "previous hunk", "Previous hunk")                         \
	X(FILES, "files", LOCAL, "files", "Go to the list of files, or back to the diff")          \
	X(SIDE_BY_SIDE, "side-by-side", LOCAL, "two columns",                                      \
	  "Old and new beside each other, or not")                                                 \
	X(WRAP, "wrap", LOCAL, "wrap", "Wrap long lines, or cut them")                             \
	X(BLANKS, "blanks", LOCAL, "blanks", "Leave out changes of blanks alone, or show them")    \
	X(FOLD, "fold", LOCAL, "fold", "Fold this hunk or file, or open it")                       \
	X(FOLD_ALL, "fold-all", LOCAL, "fold all", "Fold every file, or open them all")            \
	X(EDIT, "edit", LOCAL, "editor", "Open this file in your editor ($VISUAL, $EDITOR)")       \
	X(COPY_FILE, "copy-file", LOCAL, "copy file", "Copy the diff of this file as a patch")     \
	X(EXPORT, "export", LOCAL, "export", "Write the whole diff to a patch file in your home")  \
	X(DIFF_SESSION, "diff-session", GENERAL, "all changes",                                    \
	  "Everything that has changed since the session began")                                   \
	X(DIFF_TURN, "diff-turn", GENERAL, "this turn",                                            \
	  "Everything that has changed in this turn")                                              \
	X(MARK, "mark", LOCAL, "mark", "Mark this step, to see the changes after it later")        \
	X(DIFF_MARK, "diff-mark", GENERAL, "since the mark",                                       \
	  "Everything that has changed from the marked step on")                                   \
	X(SUSPEND, "suspend", GENERAL, "suspend",                                                  \
	  "Suspend cordon; fg in the shell brings it back")                                        \
	X(REDRAW, "redraw", GENERAL, "redraw", "Draw the whole screen again")                      \
	X(ZOOM, "zoom", GENERAL, "zoom", "Give the whole screen to this pane, or take it back")    \
	X(LAYOUT, "layout", GENERAL, "layout",                                                     \
	  "Another layout: lists at the right, below, tabs, by size")                              \
	X(HIDE, "hide", GENERAL, "hide pane", "Hide this pane; going to it brings it back")        \
	X(BORDER_LEFT, "border-left", GENERAL, "border left",                                      \
	  "Move the border between panes left")                                                    \
	X(BORDER_RIGHT, "border-right", GENERAL, "border right", "Move it right")                  \
	X(BORDER_UP, "border-up", GENERAL, "border up", "Move the border between panes up")        \
	X(BORDER_DOWN, "border-down", GENERAL, "border down", "Move it down")                      \
	X(FOCUS_NEXT, "focus-next", GENERAL, "next pane", "Go to the next pane")                   \
	X(FOCUS_PREV, "focus-prev", GENERAL, "previous pane", "Go to the previous pane")           \
	X(NEXT_FILE, "next-file", LOCAL, "next file", "Next file of this step")                    \
	X(PREV_FILE, "prev-file", LOCAL, "previous file", "Previous file of this step")            \
	X(NEXT_REQUEST, "next-request", LOCAL, "next", "Next request that waits")                  \
	X(PREV_REQUEST, "prev-request", LOCAL, "previous", "Previous request that waits")          \
	X(ALLOW, "allow", LOCAL, "allow", "Allow it: as long and as much as chosen")               \
	X(CHOOSE_SCOPE, "choose-scope", LOCAL, "how long",                                         \
	  "How long the answer counts: once at first")                                             \
	X(CHOOSE_EXTENT, "choose-extent", LOCAL, "how much",                                       \
	  "How much it is about: exactly this at first")                                           \
	X(CHOOSE_TIME, "choose-time", LOCAL, "until", "When it ends by itself: never at first")    \
	X(OWN_SETTINGS, "own-settings", LOCAL, "own copy",                                         \
	  "Start the agent again with a copy of its settings, for this folder only")               \
	X(ALLOW_COMMAND, "allow-command", LOCAL, "allow more",                                     \
	  "Allow more: a command line until the end, or all below a directory")                    \
	X(DENY, "deny", LOCAL, "deny", "Deny it: as long and as much as chosen")                   \
	X(REVOKE, "revoke", LOCAL, "take back", "Take this answer back: it will be asked again")   \
	X(SORT, "sort", LOCAL, "sort", "Sort by something else: the newest, host, bytes")          \
	X(CLOSE_CONNECTION, "close-connection", LOCAL, "close", "Close this connection")           \
	X(FORBID, "forbid", LOCAL, "forbid", "Close it, and deny it for the session")              \
	X(PUBLISH, "publish", LOCAL, "publish", "Open this server of the sandbox at localhost")    \
	X(CONFIRM, "confirm", LOCAL, "do it", "Do what this page shows")                           \
	X(KEEP_MINE, "keep-mine", LOCAL, "keep mine",                                              \
	  "Leave out files that changed since: they stay as they are")                             \
	X(MERGE, "merge", LOCAL, "merge",                                                          \
	  "Merge both sides of files that changed since; the rest stays")                          \
	X(ALL_PLACES, "all-places", LOCAL, "all places",                                           \
	  "Take in what lies outside the project, too; in a diff also directories and git")        \
	X(FORCE, "force", LOCAL, "do it anyway",                                                   \
	  "Do it over files that changed since; they are kept")                                    \
	X(STOP, "stop", LOCAL, "stop and undo",                                                    \
	  "Stop the commands that run, then show what undo does")                                  \
	X(CANCEL, "cancel", LOCAL, "cancel", "Stop the work under way and put everything back")    \
	X(END_AGENT, "end-agent", LOCAL, "end agent", "End the agent and its session")             \
	X(DETACH, "detach", LOCAL, "detach",                                                       \
	  "Leave the console; the session goes on for cordon attach")                              \
	X(PAUSE, "pause", LOCAL, "pause", "Stop the recording, or let it go on")                   \
	X(FASTER, "faster", LOCAL, "faster", "Twice as fast")                                      \
	X(SLOWER, "slower", LOCAL, "slower", "Half as fast")                                       \
	X(NORMAL_SPEED, "normal-speed", LOCAL, "normal speed", "As fast as it was")                \
	X(IDLE_LIMIT, "idle-limit", LOCAL, "pauses", "Cut long pauses, or keep them")              \
	X(NEXT_FRAME, "next-frame", LOCAL, "frame", "To the next output, and stop")                \
	X(PREV_FRAME, "prev-frame", LOCAL, "previous frame", "To the previous output, and stop")   \
	X(SEEK_FORWARD, "seek-forward", LOCAL, "+5 s", "5 seconds forward")                        \
	X(SEEK_BACK, "seek-back", LOCAL, "-5 s", "5 seconds back")                                 \
	X(SEEK_FAR_FORWARD, "seek-far-forward", LOCAL, "+1 min", "A minute forward")               \
	X(SEEK_FAR_BACK, "seek-far-back", LOCAL, "-1 min", "A minute back")                        \
	X(SEEK_START, "seek-start", LOCAL, "start", "To the beginning of the recording")           \
	X(SEEK_END, "seek-end", LOCAL, "end", "To its end")                                        \
	X(SEEK_TIME, "seek-time", LOCAL, "time", "To a time that you type: 1:02:03, 90 or 50%")    \
	X(NEXT_MARK, "next-mark", LOCAL, "next mark", "To the next mark of the time line")         \
	X(PREV_MARK, "prev-mark", LOCAL, "previous mark", "To the previous mark of the time line") \
	X(NEXT_STEP, "next-step", LOCAL, "next step", "To where the next step began")              \
	X(PREV_STEP, "prev-step", LOCAL, "previous step", "To where the previous step began")      \
	X(NEXT_TURN, "next-turn", LOCAL, "next turn",                                              \
	  "To the next line that was sent to the agent")                                           \
	X(PREV_TURN, "prev-turn", LOCAL, "previous turn",                                          \
	  "To the previous line that was sent to the agent")                                       \
	X(NEXT_APPROVAL, "next-approval", LOCAL, "next approval", "To the next request")           \
	X(PREV_APPROVAL, "prev-approval", LOCAL, "previous approval", "To the previous request")   \
	X(MOMENT, "moment", LOCAL, "moment",                                                       \
	  "To the moment at which this was done, in the recording")                                \
	X(BLAME, "blame", LOCAL, "blame", "Tell which step, prompt or edit wrote this line")

enum action {
	ACTION_NONE,
#define X(id, name, where, label, help) ACTION_##id,
	ACTIONS(X)
#undef X
	ACTION_COUNT
};

/* Where keys mean something: keymap sections and help headings. */
#define PLACES(X)                                                                                  \
	X(GLOBAL, "global", "everywhere")                                                          \
	X(TERMINAL, "terminal", "agent")                                                           \
	X(SCROLL, "scroll", "agent, scrolled back")                                                \
	X(AUDIT, "audit", "activity")                                                              \
	X(STEPS, "steps", "steps")                                                                 \
	X(STEP, "step", "one step")                                                                \
	X(REVIEW, "review", "review")                                                              \
	X(APPROVALS, "approvals", "approvals")                                                     \
	X(DETAIL, "detail", "one row")                                                             \
	X(RULES, "rules", "your answers")                                                          \
	X(LOG, "log", "log")                                                                       \
	X(RESOURCES, "resources", "resources")                                                     \
	X(THEMES, "themes", "themes")                                                              \
	X(CONNECTIONS, "connections", "connections")                                               \
	X(SESSIONS, "sessions", "sessions")                                                        \
	X(RECORDINGS, "recordings", "recordings")                                                  \
	X(PLAN, "plan", "undo and redo")                                                           \
	X(BUSY, "busy", "undo while a command runs")                                               \
	X(PROGRESS, "progress", "progress")                                                        \
	X(HELP, "help", "help")                                                                    \
	X(PALETTE, "palette", "actions")                                                           \
	X(LEAVE, "leave", "leaving")                                                               \
	X(REPLAY, "replay", "replay")

enum place {
#define X(id, name, title) PLACE_##id,
	PLACES(X)
#undef X
	PLACE_COUNT
};

const char *action_name(enum action a);
const char *action_label(enum action a);
const char *action_help(enum action a);
/* Returns whether the action is the same in every view: ui_global() does it. */
bool action_is_general(enum action a);
enum action action_find(const char *name); /* ACTION_NONE: unknown */
const char *place_name(enum place p);
const char *place_title(enum place p);
int keys_place(const char *name); /* -1: unknown */
