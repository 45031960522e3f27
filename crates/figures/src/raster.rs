//! From an SVG figure to a PNG picture, with the built-in font and nothing
//! from the system: no X, no browser, no font files.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use resvg::{tiny_skia, usvg};

use crate::FigureError;

/// Pixels in the picture per px of the figure: sharp on screens that scale.
const DENSITY: f32 = 2.0;

/// Draws `svg`, which must be one of our own figures; nothing in a build that left pictures out.
///
/// # Errors
/// [`FigureError::Picture`] when the SVG does not parse or has no size.
pub fn png(svg: &str, name: &'static str) -> Result<Option<Vec<u8>>, FigureError> {
    if let Some(picture) = DRAWN.of(svg) {
        return Ok(Some(picture));
    }
    let picture = draw(svg).map_err(|detail| FigureError::Picture { name, detail })?;
    DRAWN.keep(svg, &picture);
    Ok(Some(picture))
}

/// The built-in font in its two weights.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    Arc::new(fonts)
});

fn draw(svg: &str) -> Result<Vec<u8>, String> {
    let options = usvg::Options {
        font_family: "DejaVu Sans".to_string(),
        fontdb: Arc::clone(&FONTS),
        ..Default::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width() * DENSITY as u32, size.height() * DENSITY as u32);
    let mut picture = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| format!("{width} x {height} pixels cannot be drawn"))?;
    let scale = tiny_skia::Transform::from_scale(DENSITY, DENSITY);
    resvg::render(&tree, scale, &mut picture.as_mut());
    picture.encode_png().map_err(|e| e.to_string())
}

/// The pictures that were drawn last: a report that is checked, or made anew, right after it was written asks for
/// each of them again, and drawing takes most of its time.
struct Drawn(Mutex<VecDeque<(String, Vec<u8>)>>);

static DRAWN: Drawn = Drawn(Mutex::new(VecDeque::new()));

impl Drawn {
    /// The figures of a few reports; a picture takes about 100 kB.
    const MOST: usize = 32;

    fn of(&self, svg: &str) -> Option<Vec<u8>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(own, _)| own == svg).map(|(_, picture)| picture.clone())
    }

    fn keep(&self, svg: &str, picture: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(Self::MOST - 1);
        all.push_front((svg.to_owned(), picture.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(width: usize) -> String {
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="2"><rect width="1" height="1" fill="#111"/></svg>"##
        )
    }

    #[test]
    fn each_figure_has_its_own_picture_however_many_there_are() {
        let draw = |width| png(&figure(width), "a figure").unwrap().unwrap();
        let first: Vec<Vec<u8>> = (1..=2 * Drawn::MOST).map(draw).collect();
        for (at, picture) in first.iter().enumerate().rev() {
            // Its width as PNG has it.
            assert_eq!(picture[16..20], (2 * (at as u32 + 1)).to_be_bytes());
            assert!(draw(at + 1) == *picture, "{at}");
        }
    }

    #[test]
    fn the_last_pictures_are_kept_and_no_more() {
        let drawn = Drawn(Mutex::new(VecDeque::new()));
        for width in 1..=Drawn::MOST + 1 {
            drawn.keep(&figure(width), &[width as u8]);
        }
        assert_eq!(drawn.of(&figure(1)), None);
        assert_eq!(drawn.of(&figure(2)), Some(vec![2]));
        assert_eq!(drawn.0.lock().unwrap().len(), Drawn::MOST);
    }
}
