"""Sentences that overturn others, and sentences that only look like it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.reversal import find_reversals
from pieria.language.reversal_forms import BACK, CHANGED, DROPPED, FORMS
from pieria.language.reversal_target import SHORT, measure_fit

OVERTURNED = [
    ("We deploy with Helm.", "We no longer deploy with Helm; we use Kustomize instead."),
    ("We use Helm for staging.", "We use Kustomize instead of Helm."),
    ("Package manager: poetry.", "We use uv instead of poetry."),
    ("Our CI runs on Jenkins.", "We switched our CI to GitHub Actions."),
    ("Our CI runs on Jenkins.", "CI moved from Jenkins to GitHub Actions."),
    ("The standup is at 9:30.", "The standup is now at 10:00."),
    ("Standup is on Monday.", "The standup has been moved to Tuesday."),
    ("The API listens on port 8080.", "The API port is now 8081."),
    ("We cache sessions in Redis.", "We replaced Redis with Valkey for sessions."),
    ("We cache sessions in Redis.", "Redis has been replaced by Valkey."),
    ("I drink coffee in the morning.", "I don't drink coffee any more."),
    ("I drink coffee in the morning.", "I stopped drinking coffee, tea only."),
    ("Maya owns the billing service.", "Maya no longer owns the billing service, Omar does."),
    ("The team chats on Slack.", "We are no longer on Slack."),
    ("We fly to Lisbon in May for the summer trip.", "The Lisbon trip is cancelled."),
    ("We're planning the Lisbon trip for May.", "Forget what I said about the Lisbon trip."),
    ("The linter is flake8.", "Actually it's ruff, not flake8."),
    ("We write tests with unittest.", "We used to write tests with unittest, but now it's pytest."),
    ("Kim works at Acme.", "Kim no longer works at Acme."),
    ("We have a Netflix subscription.", "Cancelled the Netflix subscription."),
    ("Frontend uses Redux for state.", "We got rid of Redux."),
    ("Releases go out on Fridays.", "Releases no longer go out on Fridays."),
    ("My phone number is 555 0100.", "My new phone number is 555 0199."),
    ("I am vegetarian.", "I'm no longer vegetarian."),
    ("Backups run nightly at 02:00.", "Backups now run at 04:30."),
    ("The project is called Heron.", "We renamed the project from Heron to Osprey."),
    ("The deadline is 12 March.", "The deadline has been pushed to 19 March."),
    ("We use tabs for indentation.", "We use spaces instead of tabs now."),
    ("User wants answers in German.", "User now wants answers in English, not German."),
    ("User asked for reports as PDF attachments.", "User said please stop attaching PDFs."),
    ("API tokens live 24 hours.", "Correction to what I wrote about tokens: it's one hour."),
    ("We use spaces for indentation.", "From now on we'll use tabs instead of spaces."),
    ("Omar owns the billing service.", "Maya took over the billing service from Omar."),
    ("Submission deadline: 12 March.", "The deadline was extended to 19 March."),
    ("The offsite is in Lisbon.", "We settled on Berlin for the offsite."),
    ("Our dentist is Dr. Fuchs.", "Dr. Fuchs retired."),
    ("The boiler is a Vaillant.", "It's not a Vaillant but a Worcester."),
    ("Spare keys are with Mrs. Novak.", "I handed the spare keys to Tom."),
    ("We switched to Kafka for events.", "We went back to Postgres for events."),
    ("We use Kustomize instead of Helm.", "We went back to Helm."),
    ("Swim lessons are on Tuesday at 4pm.", "Swim lessons are cancelled."),
    ("Default branch is master.", "The default branch was renamed from master to main."),
    ("Feature flags are in LaunchDarkly.", "We ditched LaunchDarkly for Unleash."),
]
LEFT = [
    ("We deploy with Helm.", "If we switched from Helm to Kustomize, we'd save time."),
    ("We deploy with Helm.", "Should we use Kustomize instead of Helm?"),
    ("We deploy with Helm.", "Omar says they no longer deploy with Helm."),
    ("We deploy with Helm.", "We have not replaced Helm with Kustomize."),
    ("We deploy with Helm.", "We are considering Kustomize instead of Helm."),
    ("We deploy with Helm.", "We will move from Helm to Kustomize next year."),
    ("We deploy with Helm.", "We plan to switch from Helm to Kustomize."),
    ("We deploy with Helm.", "> We no longer deploy with Helm."),
    ("We deploy with Helm.", '"We no longer deploy with Helm" is what the flyer says.'),
    ("We deploy with Helm.", "The demo project uses Kustomize instead of Helm."),
    ("We deploy with Helm.", "After we moved from Helm to Kustomize the demo was faster."),
    ("We don't use Helm.", "We no longer use Helm."),
    ("Do we use Helm?", "We no longer use Helm."),
    ("Helm charts live in infra/charts.", "We no longer deploy with Helm."),
    ("Tea is my favourite drink.", "Yesterday I had coffee instead of tea."),
    ("I waited for Tom.", "Instead of waiting, we talked."),
    ("I drink coffee.", "I no longer wonder about coffee prices."),
    ("The standup is at 9:30.", "The standup notes are now in Confluence."),
    ("The standup is at 9:30.", "The planning is now at 10:00."),
    ("Maya owns the billing service.", "Mia no longer owns the billing service."),
    ("Maya owns the billing service.", "Maya no longer owns the search service."),
    ("Our CI runs on Jenkins.", "We moved Jenkins logs to S3."),
    ("Our CI runs on Jenkins.", "We switched the docs from Jenkins to Netlify."),
    ("The main database is MySQL.", "The reporting database was migrated from MySQL to BigQuery."),
    ("Kim lives in Oslo.", "Kim wants to move from Oslo to Bergen."),
    ("Kim lives in Oslo.", "Kim might no longer live in Oslo next year."),
    ("We have a Netflix subscription.", "We almost cancelled the Netflix subscription."),
    ("The deadline is 12 March.", "They asked to move the deadline to 19 March."),
    ("The office is in Rua da Bica.", "Our neighbour moved from Rua da Bica to the quay."),
    ("We use tabs for indentation.", "Tom uses spaces instead of tabs in his own repo."),
    ("We write tests with pytest.", "pytest is now at version 9."),
    ("The door code is 4711.", "The new door is 2 metres high."),
    ("The kids walk to school.", "School moved the start from 8:00 to 8:15."),
    ("We pay 950 rent.", "The neighbour's rent is now 1,100."),
    ("Meeting with Ada is on Tuesday.", "Meeting with Bob moved from Tuesday to Friday."),
    ("Tyres on the Fabia swapped, 80 euros.", "Sold the Fabia."),
    ("We test on Python 3.11.", "It's about people, not Python."),
    ("The build takes ten minutes.", "The build is now green."),
    ("We use Kafka for events.", "We went back to the office."),
    ("Each call of a model is counted by day.", "A call that is cancelled stops there."),
    ("Ann writes a note of each talk.", "the note was deleted | the memory is put away | archived"),
    ("Maya can work on two things at once.", "It shortens the answer, not the work."),
    ("The price is 40 euros.", "The competitor raised the price to 45 euros, said Tom."),
    ("The workshop is on 3 May.", "The concert was postponed until 10 May."),
    ("Our dentist is Dr. Fuchs.", "My uncle retired."),
    ("Omar owns the billing service.", "Maya took over the search service from Omar."),
    ("Rent is 900.", "The garage rent is now 120."),
    ("The kids go to Oakwood school.", "The Millers' kids no longer go to Oakwood."),
    ("We host on Heroku.", "Heroku replaced the old stack image with a new one."),
    ("It has the API of `sqlite3`, FTS5, and a checksum.", "We chose JWT for all new APIs."),
    ("The driver's connections as the store needs them.", "No more connections than so many."),
    ("Runs a command with these arguments, and ends.", "Commands are not run but parsed, so that none is misspelt."),
    ("Pictures of the pages are taken by UTC.", "The page speaks in its reader's time zone, and not in UTC."),
    ("What a session holds of its memories.", "A memory moved from its session to the bank: it stays there."),
    ("$ pieria jobs list --state dead", "Do dead or cancelled jobs again, as if they were new."),
    ("Rename a file by its name.", "You can use a file object instead of a filename."),
    ('print(bank.recall("What is the API?"))  # Helm', 'bank.remember("We no longer use Helm.")'),
    ("Use Helm for staging.", "It knows the words “we no longer use Helm” and many more."),
]


def overturns(new: str, old: str) -> bool:
    return any(measure_fit(reversal, old) for reversal in find_reversals(new))


@pytest.mark.parametrize(("old", "new"), OVERTURNED)
def test_reversal_overturns_statement(old: str, new: str) -> None:
    assert overturns(new, old)


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_other_sentence_overturns_nothing(old: str, new: str) -> None:
    assert not overturns(new, old)


def test_reversal_names_what_goes_and_what_comes() -> None:
    [found] = find_reversals("We deploy to staging with Kustomize instead of Helm.")
    assert (found.kind, found.dropped, found.instead) == (DROPPED, ("helm",), ("kustomiz",))
    assert set(found.beside) == {"deploy", "stage"}


def test_value_that_changes_keeps_its_subject() -> None:
    [found] = find_reversals("The standup is now at 10:30.")
    assert (found.kind, found.about, found.new) == (CHANGED, ("standup",), "at 10:30")


def test_return_names_what_is_back() -> None:
    [found] = find_reversals("We went back to Postgres for the event store.")
    assert (found.kind, found.instead, found.beside) == (BACK, ("postgr",), ("event", "store"))


def test_long_text_may_overturn_but_not_be_overturned() -> None:
    padding = "\n\n".join(f"Paragraph {number} is about the garden and the weather." for number in range(40))
    reversal = "We no longer deploy with Helm."
    assert overturns(f"{padding}\n\n{reversal}\n\n{padding}", "We deploy with Helm.")
    assert not overturns(reversal, f"We deploy with Helm. {padding}"[: SHORT + 1])
    assert overturns(reversal, f"We deploy with Helm. {padding}"[:SHORT])


WORDS = "we no longer use instead of helm , not now moved from to is . ! new the my for me back X 10:30"


@given(st.text(max_size=300) | st.lists(st.sampled_from(
    WORDS.split()
), max_size=60).map(" ".join))  # fmt: skip
def test_any_text_is_read(text: str) -> None:
    for found in find_reversals(text):
        assert 0 <= found.start < found.end <= len(text)
        measure_fit(found, text)


@pytest.mark.parametrize(
    "text", ["moved a from ", "a, not b ", "b is now ", "no longer a ", "instead of ", "a replaced "]
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    begun = time.perf_counter()
    find_reversals(text * 20_000)
    find_reversals((text * 400)[:399])
    assert time.perf_counter() - begun < 5


def test_every_form_says_by_which_words_it_is_found() -> None:
    assert all(cues for _, cues, _ in FORMS)
