"""The workbench in a real browser: headless Chromium, where there is one."""

import time

import numpy as np
import pytest
from needs import CHROMIUM, DRIVER
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import kedge
from kedge.data.demo import review_model, reviews
from kedge.render.phrases import baseline, meaning
from kedge.render.removals import share_removed
from kedge.utils.rounding import rounded
from kedge.workbench.settings import Settings

pytestmark = [pytest.mark.browser, pytest.mark.serve]

# Root needs no-sandbox; the rest keeps the browser from talking to anyone but the server.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
TEXT = "The staff were friendly and the soup was very good."
PATIENCE = 30


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """Start browsers, each with a profile of its own; all end with the session."""
    started = []

    def new():
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(options=options, service=Service(DRIVER))
        browser.set_window_size(1200, 900)
        started.append(browser)
        return browser

    yield new
    for browser in started:
        browser.quit()


@pytest.fixture(scope="session")
def browser(start):
    return start()


def until(browser, condition):
    """Wait for a condition; its value."""
    return WebDriverWait(browser, PATIENCE, poll_frequency=0.05).until(lambda _: condition())


def find(browser, name):
    return browser.find_element(By.ID, name)


def opened(browser, address):
    browser.get(address)
    until(browser, lambda: browser.execute_script("return document.documentElement.dataset.ready") == "yes")


def anchor(browser):
    """The words that are shown as the anchor."""
    script = "return [...document.querySelectorAll('#reader .kept')].map(w => w.firstChild.textContent)"
    return browser.execute_script(script)


def idle(browser):
    return not find(browser, "busy").is_displayed()


def put(browser, text):
    """Paste a text, as a user would: one input event."""
    browser.execute_script(
        "const box = document.getElementById('text'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('input', {bubbles: true}));",
        text,
    )


def move_threshold(browser, value):
    browser.execute_script(
        "const s = document.getElementById('threshold'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        value,
    )


def complaints(browser):
    """What the browser's console has to say, but for a favourite icon it could not find."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def page(browser, address):
    opened(browser, address)
    yield browser
    assert complaints(browser) == []


@pytest.fixture
def explained(page):
    put(page, TEXT)
    until(page, lambda: anchor(page) and idle(page))
    return page


def test_typing_shows_the_anchor(page):
    """A review that is typed gets its label and its anchor, which is the library's."""
    find(page, "text").send_keys(TEXT)
    want = kedge.explain(review_model(), TEXT)
    until(page, lambda: [w.lower() for w in anchor(page)] == list(want.words))
    assert find(page, "label").text == str(want.label)
    assert want.status in find(page, "status").text
    assert find(page, "meaning").text == meaning(want)
    assert f"no word held in place {baseline(want)}" in find(page, "legend").text.replace("\n", " ")


def test_words_outside_the_vocabulary_are_named(page):
    """Beside the notes, as in the terminal."""
    put(page, f"{TEXT} Wunderbar!")
    until(page, lambda: anchor(page) and idle(page))
    assert "Not in the model's vocabulary: “Wunderbar”." in find(page, "notes").text


def test_moving_the_threshold_changes_the_anchor(explained):
    """A lower threshold needs fewer words, then none: that leads, and nothing is marked."""
    before = anchor(explained)
    move_threshold(explained, "0.8")
    until(explained, lambda: anchor(explained) != before and idle(explained))
    want = kedge.explain(review_model(), TEXT, threshold=0.8)
    assert [w.lower() for w in anchor(explained)] == list(want.words)
    assert find(explained, "threshold-value").text == "0.80"
    move_threshold(explained, "0.6")
    until(explained, lambda: not anchor(explained) and idle(explained))
    carried = kedge.explain(review_model(), TEXT, threshold=0.6).carried_by
    assert find(explained, "headline").text == "The label “positive” needs no word."
    shown = explained.find_elements(By.CSS_SELECTOR, "#reader .carried")
    assert [w.text.lower() for w in shown] == list(carried.words if carried else ())
    key = find(explained, "carried")
    assert key.is_displayed() == (carried is not None)
    assert carried is None or f"with {share_removed(carried.keep)} removed" in key.text


def test_clicking_a_word_changes_the_label(explained):
    """Removing the anchor's words turns the prediction, and putting them back ends it."""
    for word in explained.find_elements(By.CSS_SELECTOR, "#reader .kept"):
        word.click()
    until(explained, lambda: "negative" in find(explained, "without-text").text)
    assert "the label positive is lost" in find(explained, "without-text").text
    assert len(explained.find_elements(By.CSS_SELECTOR, "#reader .removed")) == len(anchor(explained))
    find(explained, "restore").click()
    until(explained, lambda: not find(explained, "without").is_displayed())


def test_asking_about_a_set_of_words(explained):
    """Selected words get their exact precision, and it is said whether they are an anchor."""
    explained.find_elements(By.CSS_SELECTOR, ".modes label")[1].click()
    words = explained.find_elements(By.CSS_SELECTOR, "#reader .w")
    words[6].click()
    until(explained, lambda: "not an anchor" in find(explained, "mine-status").text)
    want = kedge.precision(review_model(), TEXT, [6])
    assert f"{want.precision:.3f}"[:4] in find(explained, "mine-text").text
    for word in explained.find_elements(By.CSS_SELECTOR, "#reader .kept"):
        word.click()
    until(explained, lambda: "✓ an anchor" in find(explained, "mine-status").text)
    assert "Exact" in find(explained, "mine-more").text


def test_the_keyboard_is_enough(explained):
    """Arrow keys walk over the words and Enter removes one."""
    first = explained.find_element(By.CSS_SELECTOR, "#reader .w")
    first.send_keys(Keys.ARROW_RIGHT)
    second = explained.switch_to.active_element
    assert second.text == "staff"
    second.send_keys(Keys.ENTER)
    until(explained, lambda: find(explained, "without").is_displayed())
    assert "“staff”" in find(explained, "without-text").text


def test_what_flips_it_and_why_not_the_other(explained):
    """The words to remove are struck out as the library says; against a label, the same with a button."""
    find(explained, "ask-flip").send_keys(Keys.ENTER)
    until(explained, lambda: find(explained, "flip").is_displayed())
    want = kedge.flip(review_model(), TEXT)
    struck = [word.text.lower() for word in explained.find_elements(By.CSS_SELECTOR, "#flip-text del")]
    assert struck == list(want.words)
    assert find(explained, "flip-text").text == TEXT
    assert "“negative”" in find(explained, "flip-said").text
    assert (
        f"New label: negative ({rounded(dict(want.probabilities_after)['negative'])})"
        in find(explained, "flip-said").text
    )
    assert not find(explained, "ask-against").is_enabled()
    explained.find_element(By.CSS_SELECTOR, "#rival option[value='1']").click()
    assert find(explained, "ask-against").text == "Why not negative?"
    find(explained, "ask-against").click()
    until(explained, lambda: "ahead of “negative”" in find(explained, "headline").text and idle(explained))
    assert find(explained, "ask-against").get_attribute("aria-pressed") == "true"
    find(explained, "ask-against").click()
    until(explained, lambda: "against" not in find(explained, "headline").text and idle(explained))


def test_picking_a_document_and_a_method(page):
    """A document from the list is explained, and another method finds it its own way."""
    option = page.find_element(By.CSS_SELECTOR, "#pick option[value='1']")
    option.click()
    until(page, lambda: anchor(page) and idle(page))
    assert find(page, "text").get_attribute("value") == "Friendly staff, delicious food."
    page.find_element(By.CSS_SELECTOR, "#method option[value='beam']").click()
    until(page, lambda: "beam" in find(page, "provenance").text)


NASTY = (
    "good food <script>window.hacked = 1</script> <img src=x onerror='window.hacked = 2'> "
    "{{ constructor.constructor('window.hacked = 3')() }} \"good\" & 'friendly' </span>"
)


def test_a_document_with_markup_runs_nothing(page):
    """Markup in a document is shown as text: no element is made of it and nothing runs."""
    put(page, NASTY)
    until(page, lambda: anchor(page) and idle(page))
    shown = page.execute_script(
        "const copy = document.getElementById('reader').cloneNode(true);"
        "copy.querySelectorAll('sup').forEach(s => s.remove()); return copy.textContent"
    )
    assert shown == NASTY
    assert page.execute_script("return window.hacked ?? null") is None
    assert page.execute_script("return document.querySelectorAll('#reader script, #reader img').length") == 0


def test_a_report_with_markup_runs_nothing(page, tmp_path):
    """A saved report of such a document runs nothing either, and shows the text."""
    e = kedge.explain(lambda texts: [int("good" in t) for t in texts], NASTY)
    file = tmp_path / "report.html"
    file.write_text(e.to_html(), encoding="utf-8")
    page.get(file.as_uri())
    assert page.execute_script("return window.hacked ?? null") is None
    assert "<script>window.hacked = 1</script>" in page.find_element(By.CSS_SELECTOR, ".k-document").text
    assert page.execute_script("return document.scripts.length") == 0
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_very_long_paste_is_answered(page):
    """20,000 words get an anchor or a clear message within the limit, and the page stays alive."""
    source = np.random.default_rng(0)
    known = sorted({word for review in reviews()[0] for word in review.split()})
    started = time.monotonic()
    put(page, " ".join(source.choice(known, 20_000)))
    until(
        page,
        lambda: (
            idle(page)
            and (find(page, "headline").is_displayed() or find(page, "problem").is_displayed())
            and time.monotonic() - started > 1
        ),
    )
    assert time.monotonic() - started < 25
    put(page, TEXT)
    until(page, lambda: [w.lower() for w in anchor(page)] == list(kedge.explain(review_model(), TEXT).words))


def test_two_clients_at_once(browser, start, serve):
    """While one client's answer takes long, the other gets its own; both get answers."""

    def slow(texts):
        if any("sleepy" in t for t in texts):
            time.sleep(0.05)
        return [int("good" in t) for t in texts]

    one, other = browser, start()
    with serve(slow, Settings(seconds=4), batch_size=8) as address:
        opened(one, address)
        opened(other, address)
        put(one, "sleepy good " + " ".join(f"w{k}" for k in range(60)))
        until(one, lambda: "queries" in find(one, "busy-text").text)
        put(other, "good food here")
        until(other, lambda: anchor(other) == ["good"])
        assert find(one, "busy").is_displayed()
        until(one, lambda: find(one, "status").is_displayed() and idle(one))
        assert find(one, "label").text == "1"


def test_cancelling(browser, serve):
    """A long explanation shows its progress and can be cancelled."""

    def slow(texts):
        time.sleep(0.05)
        return [int("good" in t) for t in texts]

    with serve(slow, Settings(seconds=30), batch_size=2) as address:
        opened(browser, address)
        put(browser, "good " + " ".join(f"w{k}" for k in range(60)))
        until(browser, lambda: "queries" in find(browser, "busy-text").text)
        find(browser, "cancel").click()
        until(browser, lambda: find(browser, "problem").text == "Cancelled.")
        assert idle(browser)


def test_a_multi_label_model_offers_its_labels(browser, serve):
    """When several labels hold, the page offers them and explains the one that is picked."""

    def tags(texts):
        return [[int("good" in t), int("food" in t)] for t in texts]

    with serve(tags, outputs="multilabel", classes=["praise", "kitchen"]) as address:
        opened(browser, address)
        put(browser, "good food here")
        until(browser, lambda: anchor(browser) == ["good"])
        assert find(browser, "label").text == "praise"
        browser.find_element(By.CSS_SELECTOR, "#which option[value='1']").click()
        until(browser, lambda: anchor(browser) == ["food"])
        assert find(browser, "label").text == "kitchen"
        assert not find(browser, "problem").is_displayed()


def test_many_classes_are_counted_and_broken_at_their_joints(browser, serve):
    """Six of eight classes are shown, the others counted; a long name is broken after an underscore."""

    def shares(texts):
        rows = [[1 + 6 * ("good" in t), 2, *range(1, 7)] for t in texts]
        return [[value / sum(row) for value in row] for row in rows]

    classes = ["card_payment_not_recognised", *(f"class_{k}" for k in range(7))]
    with serve(shares, classes=classes) as address:
        opened(browser, address)
        put(browser, "good food here")
        until(browser, lambda: anchor(browser) == ["good"])
        shown = find(browser, "bars").text
        assert "and 2 other classes" in shown
        html = find(browser, "bars").get_attribute("innerHTML")
        assert "card_<wbr>payment_<wbr>not_<wbr>recognised" in html
        assert complaints(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_is_wide_enough(explained, scheme):
    """At 400 px nothing sticks out sideways and everything can be reached, light and dark."""
    explained.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True},
    )
    explained.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        assert explained.execute_script("return document.documentElement.scrollWidth") <= 400
        outside = explained.execute_script(
            "return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && "
            "e.getBoundingClientRect().right > 401 && !e.closest('svg')).map(e => e.id || e.tagName)"
        )
        assert outside == []
        back = explained.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert back == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(19, 24, 28)")
        explained.find_element(By.CSS_SELECTOR, "#reader .kept").click()
        until(explained, lambda: find(explained, "without").is_displayed())
    finally:
        explained.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        explained.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_downloads(explained, tmp_path):
    """The explanation is saved as a page and as JSON that the library reads."""
    explained.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    find(explained, "get-json").click()
    find(explained, "get-html").click()
    json_file, html_file = tmp_path / "explanation.json", tmp_path / "explanation.html"
    until(explained, lambda: json_file.exists() and html_file.exists())
    until(explained, lambda: html_file.read_text(encoding="utf-8").rstrip().endswith("</html>"))
    found = kedge.Explanation.from_json(json_file.read_text(encoding="utf-8"))
    assert found.words == kedge.explain(review_model(), TEXT).words
