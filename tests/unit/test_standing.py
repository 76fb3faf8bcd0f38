"""Sentences that set a standing rule, and sentences that only sound like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.standing_rules import KINDS, standing

RULES = """
Always use tabs for indentation.
always reply in german please
Please always cite your sources.
Never push directly to main.
Never send an email without asking me first.
Don't ever share my address with anyone.
Do not ever delete files without a backup.
From now on, answer in bullet points.
From now on please keep it under 100 words.
from now on call me Captain
Going forward, use metric units.
Moving forward, please include a test with every change.
In the future, ask before you book anything.
In future, don't suggest seafood places.
Starting today, log every expense in the sheet.
As of now, use the staging server.
Henceforth write all dates as ISO.
By default, format amounts in euros.
Unless I say otherwise, respond in French.
Until further notice, skip the weekly report.
Under no circumstances share my salary.
At all times be polite and concise.
When I ask for code, give me only the code.
Whenever I mention a restaurant, check whether it has vegan dishes.
When I say "ship it", run the tests and then merge.
If I ask for a summary, keep it to three sentences.
Every time I share a link, save it to my reading list.
Each time I send a draft, proofread it and list the changes.
Anytime I ask about weather, assume Lisbon.
When you write Python, use type hints.
Whenever you summarise an article, include the author's name.
When you suggest recipes, please leave out mushrooms.
When you are unsure, ask me instead of guessing.
When writing commit messages, use the imperative mood.
When booking flights, choose an aisle seat.
Before deleting anything, ask for confirmation.
After merging a branch, delete it.
For every bug fix, add a regression test.
For all future emails, sign with my initials.
In all your answers, include a confidence level.
In every report, put the totals first.
Don't use emojis anymore.
Do not suggest that restaurant again.
Please don't mention my ex ever again.
Don't send me reminders before 9 am anymore.
Stop using exclamation marks in your replies.
Stop recommending horror films from now on.
No more asking for permission in your messages.
Make sure you always run the linter.
Make sure to always use the blue template.
Be sure to never include phone numbers.
Remember to always convert prices to dollars.
My rule is no meetings before ten.
My rules are simple: short words, short sentences.
Our rule is that two people review each change.
The reports are for my boss, so always write formally.
House rule: no spoilers.
Standing instruction: translate everything I paste into Spanish.
You should always double-check the arithmetic.
You must never reveal the surprise party to Ana.
I want you to always explain your reasoning.
I'd like you to always answer in English.
I need you to never use jargon.
I never want to be asked about my weight.
I never want you to call my mother.
I always want sources with medical claims.
Keep your answers short.
Keep all your replies under five lines.
Your answers should be in plain text.
Your summaries must not exceed 200 words.
No emojis in your answers.
No small talk, ever.
Use the 24-hour clock from now on.
Put the conclusion first from now on.
Refer to the product as Aurora going forward.
Remind me to stretch every time I say I'm tired.
Ask me before spending money, without exception.
Also, never round the figures.
And please always use my work calendar.
1. Always write tests first.
- Never commit secrets.
User: Always answer in haiku.
Okay. From now on, talk to me like a pirate.
It's important that you always verify the source.
hey claude, always use british spelling
never use passive voice
Hello! I'm writing a novel. Always keep the narrator in the first person.
"""

PREFERENCES = """
I prefer window seats.
I prefer Python over Java for scripts.
i really prefer short answers
I'd prefer that you use first names.
I generally prefer to fly in the morning.
I much prefer trains to planes.
I'd rather you didn't use slang.
I'd rather have bullet points than long paragraphs.
I would rather not be contacted by phone.
I don't like it when you apologise so much.
I hate it when people are late.
I love it when you add diagrams.
I really don't like it when answers start with flattery.
My preference is dark roast.
My preferences are simple: quiet rooms, high floors.
My preferred language is Portuguese.
My preferred pronunciation is with a soft g.
My favourite colour is green.
My favorite cuisine is Thai.
My least favourite food is liver.
I'm not a fan of long meetings.
I am really not a big fan of spicy food.
I don't want to be called sir.
I don't like being interrupted.
I like my coffee black.
I take my tea without milk.
When it comes to music, I prefer jazz.
For travel, I prefer small hotels.
Between the two, I prefer the second layout.
I only drink decaf.
I only buy second-hand clothes.
I usually prefer paper books.
"""

PROFILES = """
Please remember that I work night shifts.
Remember that I have two kids.
Remember that I'm left-handed.
Please remember my birthday is in June.
Note that I live in Oslo.
Keep in mind that I'm on a tight budget.
Bear in mind that my English is basic.
Don't forget that I am colour-blind.
Be aware that we have a dog.
Please note: I don't own a car.
For future reference, my office is on the third floor.
For future reference, I use a Linux laptop.
Call me Max.
Please call me Dr. Okafor.
You can call me "Bee".
Just call me by my first name.
Everyone calls me Teddy.
Address me as Professor.
Please refer to me by my initials.
My name is Ingrid.
My pronouns are they/them.
My birthday is on the 3rd of March.
My time zone is CET.
My native language is Finnish.
I go by Sasha.
I'm allergic to peanuts.
I am severely allergic to penicillin.
I'm a vegetarian.
I am lactose intolerant.
I'm vegan, by the way.
I have a nut allergy.
I don't eat pork.
I can't eat gluten.
I never drink alcohol.
i do not smoke cigarettes
"""

NOTHING = """
She always said we would meet again.
I never knew he could sing.
He never uses tabs.
They always ask for more money.
My mother always told me to write things down.
You always make me laugh.
You never call.
We always use the back door.
I always wanted to visit Peru.
I always wake up at six.
I have always used that brand.
It always rains in April.
Never mind.
Never mind the mess.
Never been there, but I'd love to go.
Never thought about it that way.
Never say never.
Never again!
Never give up.
Never a dull moment with him.
Never easy to say goodbye.
Always a pleasure talking to you.
Always nice to hear from you.
Always wanted a dog.
Always been like that.
Always look on the bright side.
Always follow your heart.
Always there for me.
Always in a hurry, that man.
Should I always use tabs?
Do you always answer in German?
Why do you never cite sources?
Can you always include a test?
Would you prefer tea or coffee?
Do I prefer window seats?
What is my preferred language?
When I ask for code, what do you do?
Is it true that I am allergic to nuts?
Remember that I told you about the trip?
Did she say call me Max?
She said, "Always use tabs."
"Never push to main," he warned.
He wrote: "From now on, answer in bullet points."
“Call me Max,” he said.
Always use tabs, she said.
Never lend money to friends, my uncle used to say.
Don't do that again, he told me.
The sign said never use the lift in a fire.
The teacher told us to always cite our sources.
Her rule is no phones at the table.
His preference is dark roast.
Her favourite colour is green.
His name is Paul.
She is allergic to peanuts.
He's a vegetarian.
They prefer trains.
Maya prefers tea.
She'd rather stay home.
We preferred the old office.
I preferred the first draft.
I used to prefer coffee.
I prefer not to say.
I'd rather stay home tonight.
I'd rather go tomorrow.
I'd prefer the window seat today.
For now I prefer the blue one.
I like pizza.
I love this song.
I hate Mondays.
I don't like the ending.
I liked it when you sang.
My favourite part of the day was lunch.
My favourite moment was the sunset.
My favorite film was Alien back then.
I only ate a sandwich.
I only used it twice.
Call me later.
Call me when you get home.
Call me tomorrow.
Call me Monday.
Call me crazy, but it worked.
Call me if you need anything.
Call me back.
He called me Max.
They call him Teddy.
Please call the plumber.
My name was on the list.
My birthday was great.
My rule was broken.
The rule is hard to explain.
The rules are printed on the box.
Our policy is expiring in May.
Our instructions were unclear.
I remember that I was late.
I remember when we met.
Remember the summer of 2010?
Remember when we got lost.
Remember that I told you about Ana.
Don't forget to lock the door.
Don't forget the milk.
Don't worry about it anymore.
I don't use that account anymore.
I don't like it anymore.
We don't talk anymore.
She doesn't live here anymore.
Don't know anymore.
I can't eat another bite.
I can't eat anymore, I'm full.
I'm not hungry.
I'm a teacher.
I am happy with the result.
I have a cold.
I have a meeting at noon.
Write a poem about autumn.
Use the blue one for this picture.
Give me a list of hotels in Porto.
Translate this into Spanish.
Please send the invoice to Ana.
Don't send it yet.
Do not open the oven now.
Stop the car.
Stop worrying.
Stop crying.
Keep going.
Keep your chin up.
Keep the change.
Make sure to lock the door.
Make sure you bring a coat.
Be careful.
Be sure to visit the museum.
You should try the soup.
You should see a doctor.
You must be joking.
I want you to be happy.
I want you to meet my sister.
I'd like you to come to the party.
I never want to see him.
I always want ice cream after dinner.
From now on I'll study harder.
From now on he was careful.
From now on we are a family.
In the future, I want to be a doctor.
In the future, cars will fly.
Going forward is the only way.
Moving forward was hard after the loss.
Starting today the shop opens at nine.
By default the server listens on 7411.
As of now, nothing has changed.
When I asked for code, he gave me a poem.
When I ask for help, people ignore me.
When I was a child, we always used candles.
When I need a break, I go for a walk.
When you get home, call me.
When you see Ana, tell her hi.
When she writes Python, she uses type hints.
When you wrote that, I laughed.
If it rains, take an umbrella.
If you see Maya, give her the book.
If I had asked, he would have helped.
Every time I hear that song, I cry.
Each time we visit, they cook too much.
For every dollar we earn, they earn two.
In every town there is a church.
For all I know, he left.
Every answer was wrong.
No wonder he left.
No one ever asks.
No more bread.
No, I have never used it.
Thanks, that was always my favourite.
The function always returns None.
The tests must never depend on the order.
Users should always validate input.
Developers never read the manual.
People always ask me that.
Nobody likes it when you shout, I guess.
It is important to always verify the source.
The best teams always review each change.
Someone should call me Max in this game.
const always = use(tabs);
# always use tabs
// never push to main
> Always use tabs.
Assistant: Always wear sunscreen and check the forecast.
Mom: Always use a coaster.
Maya: I prefer tea.
I always use tabs.
I never send emails on Sunday.
They never push to main on Fridays.
I have been told to never share my password.
I wish you would always be here.
I hope you never change.
"""

# Written after the patterns, to measure them on unseen sentences.
UNSEEN = """
Always put units next to numbers
pls always add alt text to images
Never schedule anything on Fridays, please.
Don't ever call my landlord.
From this point on, write in lowercase.
going forward pls only send me the diff
If I ask you for a quote, give the source too.
When I say home, I mean the flat in Turin.
Whenever you answer a maths question, show the steps.
Please stop adding disclaimers to your answers.
Do not use the word "delve" again.
Make sure you never schedule calls during lunch.
My rule of thumb is one task per day.
Every time you edit a file, run the formatter.
Use Celsius by default.
I want you to always start with a summary.
Your replies must be in Dutch.
Keep your explanations simple.
I prefer dark mode in all apps.
I'd rather you asked before changing files.
I hate it when you guess.
My favourite author is Le Guin.
I'm not a fan of cilantro.
Please remember that I'm deaf in one ear.
Keep in mind I have a toddler.
Call me Kit.
My name is Oluwaseun.
I'm allergic to cats.
I don't eat shellfish.
I'm pescatarian.
Remember: I never fly on Mondays.
Treat every number I give you as approximate from now on.
I would prefer answers in a table.
don't use semicolons anymore
In future emails, sign off with Cheers.
"""
UNSEEN_NOTHING = """
Always loved that show.
Never seen anything like it.
Never trust a smiling cat.
Always try the local food.
Never stop learning.
Always keep a spare tyre in the car.
I never asked for this.
My dad always made pancakes on Sunday.
Always use protection, as they say.
From now on things get harder.
In the future we may move.
When I sent the file, it bounced.
When we ask people, they always say no.
I'd rather die.
I'd rather be fishing.
My favourite thing about the trip was the food.
My favorite book was stolen.
I prefer it this way for now.
Call me paranoid.
Remember that time I fell in the lake?
Remember that I love you.
Don't forget that I'm here for you.
Keep in mind that the shop closes at five.
Note that the API changed.
Make sure the door is closed.
Stop by any time.
Don't look now.
Don't tell me again that you lost it.
Never have I ever eaten snails.
Your answers are always great.
Your answer should be a number.
Our rule of three failed.
I'm blind without my glasses.
I am so glad you called.
I don't drink much.
When you suggest recipes, I get hungry.
Always be my baby.
No swimming in the lake today.
Please keep your seat belt fastened.
Going forward without her was hard.
"""

POSITIVE = [
    (kind, line)
    for kind, lines in (("rule", RULES), ("preference", PREFERENCES), ("profile", PROFILES))
    for line in lines.strip().splitlines()
]
NEGATIVE = NOTHING.strip().splitlines()


def kinds(text: str) -> list[str]:
    return [found.kind for found in standing(text)]


def test_what_people_lay_down_is_recognised_and_little_else() -> None:
    missed = [line for kind, line in POSITIVE if kinds(line) != [kind]]
    wrong = [line for line in NEGATIVE if kinds(line)]
    recognised = len(POSITIVE) - len(missed)

    assert (len(POSITIVE), len(NEGATIVE)) == (154, 192)
    assert recognised / len(POSITIVE) >= 0.98, missed
    assert recognised / (recognised + len(wrong)) >= 0.99, wrong


def test_sentences_the_forms_were_not_made_for() -> None:
    lines, nothing = UNSEEN.strip().splitlines(), UNSEEN_NOTHING.strip().splitlines()
    missed = [line for line in lines if not kinds(line)]
    wrong = [line for line in nothing if kinds(line)]
    recognised = len(lines) - len(missed)

    assert recognised / len(lines) >= 0.9, missed
    assert recognised / (recognised + len(wrong)) >= 0.9, wrong


@pytest.mark.parametrize(
    ("text", "kind", "said", "terms"),
    [
        ("Hi! Always use tabs. Thanks.", "rule", "Always use tabs.", ("use", "tab")),
        (
            "I moved. I prefer window seats, you know.",
            "preference",
            "I prefer window seats, you know.",
            ("window", "seat"),
        ),
        ("- please remember that I work nights", "profile", "- please remember that I work nights", ("work", "night")),
        (
            "Plan.\n\nWhen I ask for code, give only code.",
            "rule",
            "When I ask for code, give only code.",
            ("ask", "code"),
        ),
    ],
)
def test_the_sentence_and_its_topic_are_told(text: str, kind: str, said: str, terms: tuple[str, ...]) -> None:
    [found] = standing(text)

    assert found.kind == kind
    assert text[found.start : found.end] == said
    assert set(terms) <= set(found.terms)
    assert not {"always", "prefer", "rememb", "remember"} & set(found.terms)


@pytest.mark.parametrize(
    "text",
    [
        "```\nAlways use tabs.\n```",
        "Look:\n~~~python\nnever commit\nAlways use tabs.\n~~~\nNice, isn't it?",
        'He wrote "Come in. Always use tabs. Bye." and left.',
        "He wrote “Come in. Always use tabs. Bye.” and left.",
        "> Always use tabs.",
        "Assistant: Sure. Always use tabs.\nNever use spaces.",
        "**Maya**: Hi. I prefer tea.",
        "[10:30] Assistant: I'd rather you used tabs.",
        "",
    ],
)
def test_what_is_code_or_said_by_others_lays_nothing_down(text: str) -> None:
    assert standing(text) == []


def test_the_turn_of_the_user_is_told_from_the_turns_of_others() -> None:
    text = "Assistant: Always rest well.\nUser: Thanks. Always use tabs.\nAssistant: I prefer spaces."

    assert [text[found.start : found.end] for found in standing(text)] == ["Always use tabs."]


def test_what_is_put_before_a_colon_is_no_speaker() -> None:
    assert kinds("Note: always use tabs.\nHouse rule: no spoilers.") == ["rule", "rule"]


@pytest.mark.parametrize("gap", ["\u00a0", "\u2009", "  ", "\t"])
def test_any_white_space_and_apostrophe_will_do(gap: str) -> None:
    assert kinds(f"Don’t use{gap}emojis anymore.") == ["rule"]


@given(st.text() | st.lists(st.sampled_from([line for _, line in POSITIVE] + NEGATIVE)).map("\n\n".join))
def test_whatever_is_found_is_a_sentence_of_the_text(text: str) -> None:
    behind = 0
    for found in standing(text):
        assert found.kind in KINDS
        assert behind <= found.start < found.end <= len(text)
        assert text[found.start : found.end].strip() == text[found.start : found.end]
        behind = found.end
