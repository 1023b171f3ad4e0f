"""Make the pictures of the README and the docs: the workbench, a report, a notebook cell, each plot.

    python docs/screenshots.py            # writes docs/images/*.png

Needs kedge[plot,serve], selenium, and Chromium with its driver. The pictures are of what is
installed now, so that they are made again whenever the pages change.
"""

import base64
import io
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import uvicorn
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import kedge
from kedge import plots
from kedge.data.demo import VERY_GOOD, review_model, reviews, very_good
from kedge.workbench import create_app
from kedge.workbench.settings import Settings

IMAGES = Path(__file__).parent / "images"
REVIEW = (
    "The service was slow and the soup was cold, but the staff were friendly and the dessert was delicious."
)
SHIFTED = "The staff were friendly and the soup was very good."
# Text in the pictures stays sharp on the screens of today.
SCALE = 1.5
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def browser(profile: str) -> Any:
    """A headless Chromium with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def view(driver: Any, width: int, height: int, scheme: str) -> None:
    """Set the size of the window and the colour scheme of the system."""
    size = {"width": width, "height": height, "deviceScaleFactor": SCALE, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme_is = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme_is})


def shoot(driver: Any, name: str, *, whole: bool = True) -> None:
    """Save what is shown, the whole page or the window."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
    save(Image.open(io.BytesIO(base64.b64decode(shot["data"]))), name)


def save(image: Image.Image, name: str) -> None:
    """Write a picture with 256 colours, which is all these need and a third of the size."""
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)
    print(f"docs/images/{name}")


def until(driver: Any, condition: Callable[[], Any]) -> None:
    """Wait until something is so, and a moment for it to be drawn."""
    WebDriverWait(driver, 60, poll_frequency=0.05).until(lambda _: condition())
    time.sleep(0.4)


def workbench(driver: Any, address: str, name: str, act: Callable[[Any], None]) -> None:
    """Open the workbench with a review in it, do something, and take the picture."""
    driver.get(address)
    until(driver, lambda: driver.execute_script("return document.documentElement.dataset.ready") == "yes")
    driver.find_element(By.ID, "text").send_keys(REVIEW)
    until(driver, lambda: driver.find_elements(By.CSS_SELECTOR, "#reader .kept"))
    act(driver)
    driver.execute_script("document.activeElement.blur()")
    time.sleep(0.3)
    shoot(driver, name)


def choose_words(driver: Any) -> None:
    """Ask about a set of words of one's own."""
    driver.execute_script("document.querySelector('[value=choose]').click()")
    for k in (3, 6):
        driver.find_elements(By.CSS_SELECTOR, "#reader .w")[k].click()
    until(driver, lambda: driver.find_element(By.ID, "mine").is_displayed())


def flip_label(driver: Any) -> None:
    """Ask what flips the label."""
    driver.find_element(By.ID, "ask-flip").click()
    until(driver, lambda: driver.find_element(By.ID, "flip").is_displayed())


def pages(driver: Any, folder: Path) -> None:
    """Reports of two explanations, and a notebook cell."""
    shown = {
        "report": kedge.explain(review_model(), REVIEW).to_html(),
        "report-rule": kedge.explain(VERY_GOOD, very_good(4)).to_html(),
        "notebook": "<!doctype html><meta charset=utf-8><body data-jp-theme-light=true>"
        + kedge.explain(review_model(), REVIEW)._repr_html_(),
    }
    for name, html in shown.items():
        file = folder / f"{name}.html"
        file.write_text(html, encoding="utf-8")
        for scheme in ("light", "dark") if name == "report" else ("light",):
            view(driver, 860, 1240 if name == "report" else 400, scheme)
            driver.get(file.as_uri())
            file_name = f"{name}-{scheme}.png" if name == "report" else f"{name}.png"
            shoot(driver, file_name, whole=name != "report")


def over_seeds(model: Any, text: str) -> list[kedge.Explanation]:
    """The official procedure's answers over ten seeds."""
    return [kedge.explain(model, text, method="beam", seed=seed) for seed in range(10)]


def figures() -> None:
    """Each plot."""
    model = review_model()
    e = kedge.explain(model, REVIEW, method="exhaustive")
    steps = [x / 8 for x in range(-8, 11)]
    drawn = {
        "plot-search": e.plot,
        "plot-words": lambda: plots.words(e),
        "plot-stability-seeds": lambda: plots.stability(over_seeds(model, REVIEW)),
        "plot-stability-thresholds": lambda: plots.stability(
            [kedge.explain(model, REVIEW, threshold=t / 100) for t in (70, 75, 80, 85, 90, 95, 99)]
        ),
        "plot-shift": lambda: plots.shift(
            {by: over_seeds(plots.shifted(model, by), SHIFTED) for by in steps}
        ),
    }
    for name, draw in drawn.items():
        buffer = io.BytesIO()
        draw().figure.savefig(buffer, dpi=100 * SCALE)
        save(Image.open(buffer), f"{name}.png")


def main() -> None:
    """Make them all."""
    IMAGES.mkdir(exist_ok=True)
    figures()
    if not shutil.which("chromedriver"):
        sys.exit("The pictures of pages need chromium and chromedriver.")
    listener = socket.create_server(("127.0.0.1", 0))
    settings = Settings(documents=tuple(reviews()[0][:10]))
    server = uvicorn.Server(uvicorn.Config(create_app(review_model(), settings), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with tempfile.TemporaryDirectory() as folder:
        driver = browser(f"{folder}/profile")
        try:
            for scheme, act in (("light", flip_label), ("dark", choose_words)):
                view(driver, 1180, 780, scheme)
                workbench(driver, address, f"workbench-{scheme}.png", act)
            view(driver, 400, 780, "light")
            workbench(driver, address, "workbench-phone.png", flip_label)
            pages(driver, Path(folder))
        finally:
            driver.quit()
    server.should_exit = True
    thread.join(10)


if __name__ == "__main__":
    main()
