-- The database of OpenCode, with the session that `opencode_storage` holds in files.
BEGIN TRANSACTION;
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
INSERT INTO "message" VALUES('msg_1','ses_1',1772560100000,'{"role": "user"}');
INSERT INTO "message" VALUES('msg_2','ses_1',1772560200000,'{"role": "assistant"}');
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
INSERT INTO "part" VALUES('prt_1','msg_1','ses_1',1772560100000,'{"type": "text", "text": "Write the export as CSV."}');
INSERT INTO "part" VALUES('prt_2','msg_1','ses_1',1772560100000,'{"type": "text", "text": "Called the Read tool \u2026", "synthetic": true}');
INSERT INTO "part" VALUES('prt_3','msg_2','ses_1',1772560200000,'{"type": "step-start"}');
INSERT INTO "part" VALUES('prt_4','msg_2','ses_1',1772560200000,'{"type": "tool", "tool": "edit", "state": {"status": "completed", "input": {"filePath": "/home/maya/billing/export.py"}}}');
INSERT INTO "part" VALUES('prt_5','msg_2','ses_1',1772560200000,'{"type": "text", "text": "It is written as CSV now."}');
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                                  time_created INTEGER, time_updated INTEGER);
INSERT INTO "session" VALUES('ses_1','p',NULL,'/home/maya/billing','Exports',1772560000000,1772560900000);
COMMIT;
